"""What machines proposed on a corpus: how much, by whom, how differently, and some of it to see."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from hits.models import Corpus, Proposal
from hits.pipeline import visible
from hits.pipeline.compare import TOP, comparable, compare, examples, usual
from hits.pipeline.errors import Refused
from hits.views.access import desks, login_required, user_of
from hits.views.tables import lines_of


class CompareForm(forms.Form):
    proposal = forms.ModelMultipleChoiceField(
        Proposal.objects.none(),
        label="Proposals",
        required=False,
        help_text="Empty: the newest of each machine and direction.",
    )
    top = forms.IntegerField(
        label="Top", min_value=1, max_value=100, required=False, help_text="How many go to people."
    )
    seed = forms.IntegerField(
        min_value=0, max_value=2**31, required=False, widget=forms.HiddenInput
    )

    def __init__(self, *args: object, corpus: Corpus) -> None:
        super().__init__(*args)  # type: ignore[arg-type]  # as Django passes them
        field = self.fields["proposal"]
        assert isinstance(field, forms.ModelMultipleChoiceField)
        found = comparable(corpus)
        field.queryset = corpus.proposals.filter(pk__in=[each.pk for each in found]).select_related(
            "machine"
        )
        field.widget.attrs["size"] = min(max(len(found), 2), 8)


@login_required
@require_safe
def proposals(request: HttpRequest, slug: str) -> HttpResponse:
    user = user_of(request)
    corpus = get_object_or_404(visible.corpora(user), slug=slug)
    # As it is asked for, and without a question as it would be answered.
    newest = usual(comparable(corpus))
    unasked = {"proposal": [each.pk for each in newest], "top": TOP}
    form = CompareForm(request.GET or unasked, corpus=corpus)
    context = desks(user) | {"corpus": corpus, "form": form}
    if not form.is_valid():
        return render(request, "research/proposals.html", context, status=422)
    chosen = list(form.cleaned_data["proposal"]) or newest
    top, seed = form.cleaned_data["top"] or TOP, form.cleaned_data["seed"] or 0
    context |= {"chosen": chosen, "top": top, "next_seed": seed + 1}
    if chosen:
        try:
            found = compare(corpus=corpus, proposals=chosen, top=top)
        except Refused as refusal:
            form.add_error(None, refusal.message)
            return render(request, "research/proposals.html", context, status=422)
        context |= {
            "compared": found,
            "tables": [(table, lines_of(table), None) for table in found.tables],
            "shown": examples(proposals=chosen, top=top, seed=seed),
        }
    return render(request, "research/proposals.html", context)

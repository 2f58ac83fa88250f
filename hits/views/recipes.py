"""Recipes: a paper's whole procedure started by a click, and where it stands."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from hits.models import Corpus, Job, Proposal, User
from hits.pipeline import propose, visible
from hits.pipeline.errors import PipelineError
from hits.pipeline.recipe import Standing, State, standing
from hits.pipeline.runs import LONGEST_NAME, Run, ask, started_by
from hits.recipes import Open, Propose, Recipe, Review, Work, recipes
from hits.views.access import desks, login_required, may_create, user_of
from hits.views.research import recent_jobs


class RecipeForm(forms.Form):
    corpus = forms.ModelChoiceField(Corpus.objects.none(), empty_label=None)
    queries = forms.IntegerField(
        min_value=1,
        max_value=propose.MOST_QUERIES,
        required=False,
        help_text="A random sample of so many queries; try it with a few first. Empty: all.",
    )
    machines = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Those that ran elsewhere stand here once their vectors or lists are uploaded.",
    )
    split = forms.CharField(
        max_length=40, required=False, help_text="Empty: test where there is one, else the largest."
    )
    name = forms.SlugField(
        max_length=LONGEST_NAME,
        required=False,
        help_text="What the short names of its studies begin with. Empty: made from the corpus.",
    )
    seed = forms.IntegerField(min_value=0, max_value=2**62, initial=0)

    def __init__(
        self, *args: Any, recipe: Recipe, corpora: QuerySet[Corpus], **values: Any
    ) -> None:
        super().__init__(*args, **values)
        corpus = self.fields["corpus"]
        assert isinstance(corpus, forms.ModelChoiceField)
        corpus.queryset = corpora
        choosing = [s for s in recipe.steps if isinstance(s, Propose) and s.may_choose]
        if choosing:
            self._offer_machines(choosing[0], corpora)
        else:
            del self.fields["machines"]
        if not any(isinstance(step, Propose) for step in recipe.steps):
            del self.fields["queries"]

    def _offer_machines(self, step: Propose, corpora: QuerySet[Corpus]) -> None:
        here = {
            name: kind.label
            for name, kind in propose.machines().items()
            if {*step.directions} <= {*kind.directions} and not kind.scores_pairs
        }
        proposed = Proposal.objects.filter(corpus__in=corpora, direction__in=step.directions)
        known = set(map(propose.recorded_name, propose.machines()))
        elsewhere = proposed.exclude(machine__name__in=known).order_by("machine__name")
        names = elsewhere.values_list("machine__name", flat=True).distinct()
        field = self.fields["machines"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = [*here.items(), *((name, name) for name in names)]
        field.initial = list(step.machines)

    def chosen(self) -> dict[str, Any]:
        return {**self.cleaned_data, "split": self.cleaned_data["split"] or None}


@login_required
@require_safe
def all_recipes(request: HttpRequest) -> HttpResponse:
    user = _researcher(request)
    context = desks(user) | {"recipes": recipes().values(), "runs": started_by(user)}
    return render(request, "research/recipes.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def recipe(request: HttpRequest, recipe: str) -> HttpResponse:
    """What it does, and the form that starts it."""
    user = _researcher(request)
    chosen = _recipe(recipe)
    corpora = visible.corpora(user)
    form = RecipeForm(request.POST or None, recipe=chosen, corpora=corpora)
    if request.method == "POST" and form.is_valid():
        try:
            run = Run.of(recipe=recipe, by=user, **form.chosen())
            ask(run)
        except PipelineError as refusal:
            form.add_error(None, refusal.message)
        else:
            return redirect("recipe_run", recipe=recipe, slug=run.corpus.slug, name=run.name)
    context = desks(user) | {
        "recipe": chosen,
        "form": form,
        "first_fields": [form[name] for name in ("corpus", "queries") if name in form.fields],
        "more_fields": [form[name] for name in ("split", "name", "seed")],
        "has_corpora": corpora.exists(),
    }
    return render(request, "research/recipe.html", context, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def run(request: HttpRequest, recipe: str, slug: str, name: str) -> HttpResponse:
    """Where it stands; posting goes on with it."""
    user = _researcher(request)
    corpus = get_object_or_404(visible.corpora(user), slug=slug)
    try:
        found = Run.of(recipe=_recipe(recipe).slug, corpus=corpus, by=user, name=name)
    except PipelineError:
        raise Http404 from None
    if not found.is_started:
        raise Http404
    if request.method == "POST":
        ask(found)
        messages.success(request, "It goes on.")
        return redirect("recipe_run", recipe=recipe, slug=slug, name=name)
    steps = standing(found)
    last = recent_jobs(found.jobs)[0]
    has_failed = last.state == Job.State.FAILED
    context = desks(user) | {
        "run": found,
        "steps": [(step, _doors(step)) for step in steps],
        "now": next((step for step in steps if step.state != State.DONE), None),
        "done": sum(step.state == State.DONE for step in steps),
        "jobs": [last],
        "is_busy": not last.is_finished,
        "has_failed": has_failed,
        "shows_job": has_failed or not last.is_finished,
    }
    return render(request, "research/recipe_run.html", context)


def _recipe(slug: str) -> Recipe:
    if slug not in recipes():
        raise Http404
    return recipes()[slug]


def _researcher(request: HttpRequest) -> User:
    user = user_of(request)
    if not may_create(user):
        raise Http404
    return user


_DOORS: Mapping[type, tuple[tuple[str, str], ...]] = {
    Open: (("study_imports", "Upload rows"),),
    Work: (("study_people", "Invite raters"), ("study_channels", "Sell pages at a marketplace")),
    Review: (("review_desk", "Review"),),
}


def _doors(step: Standing) -> list[tuple[str, str]]:
    """Where people go to do what a step waits for."""
    if step.state != State.PEOPLE or step.study is None:
        return []
    return [
        (reverse(name, args=[step.study.slug]), label) for name, label in _DOORS[type(step.step)]
    ]

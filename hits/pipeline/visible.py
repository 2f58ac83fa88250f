"""What a user may see beyond the studies they belong to: everything else is not there for them."""

from django.db.models import Q, QuerySet

from hits.models import Corpus, Evaluation, Job, Release, ReleaseFile, Role, Study, User


def corpora(user: User) -> QuerySet[Corpus]:
    """Those the user owns, and those of the studies in which they are a researcher."""
    if user.is_staff:
        return Corpus.objects.all()
    studied = Study.objects.of(user, Role.RESEARCHER).values("corpus")
    return Corpus.objects.filter(Q(owner=user) | Q(pk__in=studied))


def releases(user: User) -> QuerySet[Release]:
    """Those of whose every study the user is a researcher."""
    if user.is_staff:
        return Release.objects.all()
    theirs = Study.objects.of(user, Role.RESEARCHER)
    of_others = Release.studies.through.objects.exclude(study__in=theirs)
    return Release.objects.exclude(pk__in=of_others.values("release"))


def release_files(user: User) -> QuerySet[ReleaseFile]:
    """Those that stand on disk, where this application can read them."""
    theirs = ReleaseFile.objects.filter(release__in=releases(user), release__withdrawn_at=None)
    theirs = theirs.exclude(release__place__startswith="s3://")
    return theirs.select_related("release").order_by("-release__made_at", "-release", "name")


def evaluations(user: User) -> QuerySet[Evaluation]:
    """One's own."""
    return Evaluation.objects.all() if user.is_staff else Evaluation.objects.filter(by=user)


def jobs(user: User) -> QuerySet[Job]:
    asked = Job.objects.filter(part_of=None)
    if user.is_staff:
        return asked
    return asked.filter(
        Q(asked_by=user)
        | Q(study__in=Study.objects.of(user, Role.RESEARCHER))
        | Q(study=None, corpus__in=corpora(user))
    )

import pytest
from django.core.exceptions import ValidationError

from hits.models import (
    Account,
    Assignment,
    Consent,
    Exclusion,
    Judgment,
    Membership,
    Participation,
    Slot,
    Study,
    Unit,
    User,
)
from hits.pipeline.draw import draw
from hits.pipeline.errors import Closed, NotAllowed, NothingLeft, Refused
from hits.pipeline.people import (
    accept_invitation,
    account_of,
    give_consent,
    invitation_by_token,
    join,
    link,
    withdraw,
)
from hits.pipeline.review import decide
from hits.pipeline.submit import free_expired, submit
from hits.pipeline.versions import change_version
from tests import making
from tests.concurrency.reconciling import assert_places_reconcile

pytestmark = pytest.mark.django_db

SMALL = {"candidates_a_page": 4, "justification": False}


@pytest.fixture
def study() -> Study:
    """Four units, three judgments wanted of each."""
    made = making.study(making.corpus(images=12), settings=SMALL, judgments_wanted=3)
    units = Unit.objects.filter(study=made, gold__isnull=True)
    kept = units.filter(pool="candidate").order_by("order_key").values_list("pk", flat=True)[:4]
    units.exclude(pk__in=list(kept)).update(excluded=True)
    return made


def fresh(account: Account) -> Account:
    return Account.objects.get(pk=account.pk)


def joined(*accounts: Account) -> None:
    first, *others = accounts
    for other in others:
        link(account=fresh(first), same_as=fresh(other))


def states(page: Assignment) -> set[str]:
    slots = Slot.objects.filter(assignment=page, unit__gold__isnull=True)
    return set(slots.values_list("state", flat=True))


def counts(study: Study) -> set[tuple[int, int]]:
    units = Unit.objects.filter(study=study, gold__isnull=True, excluded=False)
    return set(units.values_list("held", "counted"))


def send(page: Assignment) -> None:
    submit(assignment_key=page.key, account=page.account, fields=making.answers(6))


def test_of_one_persons_two_judgments_the_later_is_not_used_and_asked_again(study: Study) -> None:
    one, other = making.rater(study), making.rater(study)
    earlier, later = making.work(study, one), making.work(study, other)
    joined(one, other)
    assert (states(earlier), states(later)) == ({"counted"}, {"same_person"})
    assert counts(study) == {(0, 1)}
    assert Judgment.objects.filter(slot__assignment=later).count() == 6
    third = draw(study=study, account=making.rater(study))
    fourth = draw(study=study, account=making.rater(study))
    assert states(third) == states(fourth) == {"held"}
    assert_places_reconcile()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_it_is_the_later_judgment_whoever_is_named_first(
    study: Study, order: tuple[int, int]
) -> None:
    accounts = [making.rater(study), making.rater(study)]
    later = draw(study=study, account=accounts[0])
    earlier = making.work(study, accounts[1])
    send(later)
    joined(*(accounts[each] for each in order))
    assert (states(earlier), states(later)) == ({"counted"}, {"same_person"})
    assert_places_reconcile()


def test_a_unit_that_is_still_open_on_one_account_gives_way_to_the_judgment_on_the_other(
    study: Study,
) -> None:
    one, other = making.rater(study), making.rater(study)
    unfinished, done = draw(study=study, account=one), making.work(study, other)
    joined(one, other)
    assert (states(unfinished), states(done)) == ({"same_person"}, {"counted"})
    send(unfinished)
    assert states(unfinished) == {"same_person"}
    assert counts(study) == {(0, 1)}
    assert_places_reconcile()


def test_a_judgment_counts_though_the_same_person_let_the_unit_expire_before(study: Study) -> None:
    one, other = making.rater(study), making.rater(study)
    expired = draw(study=study, account=one)
    Assignment.objects.update(lease_until=expired.drawn_at)
    free_expired()
    done = making.work(study, other)
    joined(one, other)
    assert (states(expired), states(done)) == ({"same_person"}, {"counted"})
    send(expired)
    assert counts(study) == {(0, 1)}
    assert_places_reconcile()


def test_a_page_taken_back_into_use_does_not_let_one_person_count_twice(study: Study) -> None:
    one, other = making.rater(study), making.rater(study)
    first, second = making.work(study, one), making.work(study, other)
    reviewer = study.corpus.owner
    decide(assignment=first, by=reviewer, use="not_used", payment="approved", reason="No")
    joined(one, other)
    assert states(second) == {"counted"}
    decide(assignment=first, by=reviewer, use="used", payment="approved", reason="Yes")
    assert counts(study) == {(0, 1)}
    assert_places_reconcile()


def test_three_accounts_of_one_person_count_once(study: Study) -> None:
    accounts = [making.rater(study) for _ in range(3)]
    for account in accounts:
        making.work(study, account)
    joined(*accounts)
    assert counts(study) == {(0, 1)}
    assert {fresh(account).person_id for account in accounts} == {accounts[0].person_id}
    assert_places_reconcile()


def test_a_third_account_meets_the_judgment_that_counts_and_not_the_one_that_gave_way(
    study: Study,
) -> None:
    first, second, third = (making.rater(study) for _ in range(3))
    unfinished = draw(study=study, account=first)
    counting = making.work(study, second)
    last = making.work(study, third)
    joined(first, second)
    joined(first, third)
    assert [states(page) for page in (unfinished, counting, last)] == [
        {"same_person"},
        {"counted"},
        {"same_person"},
    ]
    assert_places_reconcile()


def test_a_person_gets_no_unit_that_one_of_their_accounts_has_seen(study: Study) -> None:
    one, other = making.rater(study), making.rater(study)
    making.work(study, one)
    joined(one, other)
    with pytest.raises(NothingLeft):
        draw(study=study, account=fresh(other))


def test_linking_twice_changes_nothing(study: Study) -> None:
    one, other = making.rater(study), making.rater(study)
    making.work(study, one)
    making.work(study, other)
    joined(one, other, one, other)
    assert counts(study) == {(0, 1)}
    assert_places_reconcile()


def test_whoever_is_excluded_under_one_account_is_excluded_under_the_other(study: Study) -> None:
    one, other = making.rater(study), making.rater(study)
    Participation.objects.filter(person=other.person).update(excluded_reason="Too fast.")
    joined(one, other)
    with pytest.raises(NotAllowed):
        draw(study=study, account=fresh(one))


def test_work_under_another_account_keeps_one_out_of_a_study_it_excludes(study: Study) -> None:
    second = making.study(study.corpus, settings=SMALL)
    Exclusion.objects.create(study=study, other=second)
    one, other = making.rater(study), making.rater(second)
    making.work(study, one)
    joined(one, other)
    with pytest.raises(NotAllowed):
        draw(study=second, account=fresh(other))


def test_what_was_done_under_both_accounts_adds_up() -> None:
    study = making.study(making.corpus(images=12), settings=SMALL)
    one, other = making.rater(study), making.rater(study)
    making.work(study, one)
    making.work(study, other)
    joined(one, other)
    theirs = Participation.objects.get(study=study, person=one.person)
    assert (theirs.pages_done, theirs.judgments_done) == (2, 12)


def test_a_login_has_one_account(study: Study) -> None:
    user = making.user()
    assert account_of(user) == account_of(User.objects.get(pk=user.pk))


def test_agreeing_twice_is_one_consent_and_to_new_information_a_second(study: Study) -> None:
    account = making.rater(study)
    assert give_consent(study=study, account=account) == Consent.objects.get()
    change_version(study=study, by=study.corpus.owner, information="New.")
    give_consent(study=study, account=account)
    assert Consent.objects.filter(withdrawn_at__isnull=True).get().version == study.version
    assert Consent.objects.count() == 2


def test_whoever_withdraws_keeps_what_was_submitted_and_gives_back_what_is_open() -> None:
    study = making.study(making.corpus(images=12), settings=SMALL)
    account = making.rater(study)
    done = making.work(study, account)
    unfinished = draw(study=study, account=account)
    withdraw(study=study, account=account)
    unfinished.refresh_from_db()
    assert unfinished.state == "returned"
    assert states(done) == {"counted"}
    with pytest.raises(NotAllowed):
        draw(study=study, account=account)
    assert Consent.objects.get().withdrawn_at is not None
    assert_places_reconcile()


def test_withdrawing_from_a_study_one_never_joined_is_nothing(study: Study) -> None:
    withdraw(study=study, account=account_of(making.user()))
    assert not Consent.objects.exists()


def test_an_invitation_is_used_up_by_as_many_as_it_has_places(study: Study) -> None:
    invitation = study.invitations.create(created_by=study.corpus.owner, places=1)
    join(token=invitation.token, user=making.user())
    with pytest.raises(Closed):
        invitation_by_token(invitation.token)
    with pytest.raises(Closed):
        join(token=invitation.token, user=making.user())


def test_an_unknown_invitation_is_refused() -> None:
    with pytest.raises(NotAllowed):
        invitation_by_token("nobody-knows-this")


def test_a_newcomer_gets_a_login_in_the_role_of_the_invitation(study: Study) -> None:
    invitation = study.invitations.create(created_by=study.corpus.owner, role="reviewer")
    user = accept_invitation(
        token=invitation.token, name=" Ada ", email=" Ada@Example.org ", password="green bicycles 7"
    )
    assert (user.email, user.first_name) == ("ada@example.org", "Ada")
    assert Membership.objects.get(user=user).role == "reviewer"


def test_a_newcomer_with_a_weak_password_or_a_known_address_gets_no_login(study: Study) -> None:
    invitation = study.invitations.create(created_by=study.corpus.owner)
    known = making.user()
    with pytest.raises(ValidationError):
        accept_invitation(token=invitation.token, name="A", email="a@example.org", password="1")
    with pytest.raises(Refused):
        accept_invitation(
            token=invitation.token, name="A", email=known.email.upper(), password="green bicycles 7"
        )
    invitation.refresh_from_db()
    assert invitation.taken == 0
    assert not User.objects.filter(email="a@example.org").exists()

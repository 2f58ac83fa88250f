"""The admin site: lists and filters to look things up. Work is done on the desks.

Every admin (staff) sees everything, golds included; only superusers change anything, and only
the flags of logins.
"""

from typing import TYPE_CHECKING, Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib import admin
from django.contrib.auth.models import Group
from django.http import HttpRequest
from rest_framework.authtoken.models import TokenProxy

from hits import models

# Nobody reads these here, so nobody finds them out by filters either.
SECRET = frozenset({"password", "token", "auth_token", "session"})
FLAGS = ("is_active", "is_researcher", "is_staff", "is_superuser")

admin.site.site_header = "Annotation"
admin.site.site_title = "Annotation admin"
admin.site.index_title = "Look things up"
admin.site.unregister(Group)
admin.site.unregister(TokenProxy)
admin.site.unregister((AccessAttempt, AccessLog, AccessFailureLog))


# Django's class takes no parameter while it runs.
if TYPE_CHECKING:
    Base = admin.ModelAdmin[Any]
else:
    Base = admin.ModelAdmin


class LookOnly(Base):
    list_per_page = 50
    show_full_result_count = False
    actions = None

    def lookup_allowed(self, lookup: str, value: str, request: Any = None) -> bool:
        if SECRET & set(lookup.split("__")):
            return False
        return super().lookup_allowed(lookup, value, request)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_active and request.user.is_staff)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(models.User)
class UserAdmin(LookOnly):
    list_display = ("email", "first_name", *FLAGS, "date_joined", "last_login")
    list_filter = FLAGS
    search_fields = ("email", "first_name", "last_name")
    fields = ("email", "first_name", "last_name", *FLAGS, "date_joined", "last_login")
    readonly_fields = ("email", "first_name", "last_name", "date_joined", "last_login")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)


@admin.register(models.Membership)
class MembershipAdmin(LookOnly):
    list_display = ("user", "role", "study", "created_at")
    list_filter = ("role", "study")
    search_fields = ("user__email", "study__slug")
    list_select_related = ("user", "study")


@admin.register(models.Invitation)
class InvitationAdmin(LookOnly):
    list_display = ("study", "role", "places", "taken", "created_by", "expires_at")
    list_filter = ("role", "study")
    list_select_related = ("study", "created_by")
    exclude = ("token",)


@admin.register(models.Person)
class PersonAdmin(LookOnly):
    list_display = ("pk", "created_at", "same_as", "erased_at")
    search_fields = ("=pk",)
    list_select_related = ("same_as",)


@admin.register(models.Account)
class AccountAdmin(LookOnly):
    list_display = ("person", "channel", "external_id", "user", "created_at")
    list_filter = ("channel",)
    search_fields = ("=external_id", "user__email", "=person__pk")
    list_select_related = ("person", "user")


@admin.register(models.Corpus)
class CorpusAdmin(LookOnly):
    list_display = ("name", "slug", "licence", "owner", "created_at")
    search_fields = ("slug", "name")
    list_select_related = ("owner",)


@admin.register(models.Blob)
class BlobAdmin(LookOnly):
    list_display = ("sha256", "content_type", "size", "width", "height", "bucket")
    list_filter = ("content_type",)
    search_fields = ("=sha256",)


@admin.register(models.Image)
class ImageAdmin(LookOnly):
    list_display = ("external_id", "corpus", "file_name", "split", "width", "height")
    list_filter = ("corpus",)
    search_fields = ("=external_id", "=file_name")
    list_select_related = ("corpus",)


@admin.register(models.Caption)
class CaptionAdmin(LookOnly):
    list_display = ("external_id", "corpus", "image", "text")
    list_filter = ("corpus",)
    search_fields = ("=external_id", "=image__external_id")
    list_select_related = ("corpus", "image")


@admin.register(models.Region)
class RegionAdmin(LookOnly):
    list_display = ("external_id", "corpus", "image", "category", "area")
    list_filter = ("corpus",)
    search_fields = ("=external_id", "=image__external_id", "=category")
    list_select_related = ("corpus", "image")


@admin.register(models.Machine)
class MachineAdmin(LookOnly):
    list_display = ("name", "version", "kind", "checksum", "created_at")
    list_filter = ("kind",)
    search_fields = ("name",)


@admin.register(models.Proposal)
class ProposalAdmin(LookOnly):
    list_display = ("machine", "corpus", "direction", "split", "depth", "queries", "finished_at")
    list_filter = ("direction", "corpus", "machine")
    list_select_related = ("machine", "corpus")


@admin.register(models.Study)
class StudyAdmin(LookOnly):
    list_display = ("name", "slug", "protocol", "state", "corpus", "created_at", "opened_at")
    list_filter = ("state", "protocol", "corpus")
    search_fields = ("slug", "name")
    list_select_related = ("corpus",)


@admin.register(models.StudyVersion)
class StudyVersionAdmin(LookOnly):
    list_display = ("study", "number", "judgments_wanted", "pay", "created_by", "created_at")
    list_filter = ("study",)
    list_select_related = ("study", "created_by")


@admin.register(models.Exclusion)
class ExclusionAdmin(LookOnly):
    list_display = ("study", "other", "created_at")
    list_select_related = ("study", "other")


@admin.register(models.Unit)
class UnitAdmin(LookOnly):
    list_display = ("key", "study", "pool", "gold", "wanted", "held", "counted", "excluded")
    list_filter = ("study", "pool", "excluded")
    search_fields = ("=key",)
    list_select_related = ("study",)


@admin.register(models.Participation)
class ParticipationAdmin(LookOnly):
    list_display = (
        "person", "study", "pages_done", "judgments_done", "qualified_at", "excluded_reason",
    )  # fmt: skip
    list_filter = ("study",)
    search_fields = ("=person__pk",)
    list_select_related = ("person", "study")


@admin.register(models.Consent)
class ConsentAdmin(LookOnly):
    list_display = ("participation", "version", "given_at", "withdrawn_at")
    list_filter = ("participation__study",)
    search_fields = ("=participation__person__pk",)
    list_select_related = (
        "participation__person", "participation__study", "version__study",
    )  # fmt: skip


@admin.register(models.Assignment)
class AssignmentAdmin(LookOnly):
    list_display = (
        "key", "study", "person", "state", "use", "payment", "golds_failed", "golds_shown",
        "drawn_at", "submitted_at",
    )  # fmt: skip
    list_filter = ("state", "use", "payment", "golds_failed", "study")
    search_fields = ("=key", "=person__pk")
    list_select_related = ("study", "person")


@admin.register(models.Slot)
class SlotAdmin(LookOnly):
    list_display = ("assignment_key", "position", "unit", "person", "state")
    list_filter = ("state", "assignment__study")
    search_fields = ("=assignment__key", "=unit__key", "=person__pk")
    list_select_related = ("assignment", "unit", "person")

    @admin.display(description="assignment")
    def assignment_key(self, slot: models.Slot) -> Any:
        return slot.assignment.key


@admin.register(models.Judgment)
class JudgmentAdmin(LookOnly):
    list_display = ("slot_id", "unit", "person", "answer", "problem", "seconds", "created_at")
    list_filter = ("slot__assignment__study",)
    search_fields = ("=slot__unit__key", "=slot__person__pk")
    list_select_related = ("slot__unit", "slot__person")

    @admin.display
    def unit(self, judgment: models.Judgment) -> str:
        return judgment.slot.unit.key

    @admin.display
    def person(self, judgment: models.Judgment) -> str:
        return str(judgment.slot.person)


@admin.register(models.Decision)
class DecisionAdmin(LookOnly):
    list_display = ("assignment", "kind", "value", "reason", "by", "at")
    list_filter = ("kind", "value", "assignment__study")
    search_fields = ("=assignment__key", "reason")
    list_select_related = ("assignment__study", "by")


@admin.register(models.Publication)
class PublicationAdmin(LookOnly):
    list_display = ("study", "channel", "state", "reward", "hit_type_id", "created_at")
    list_filter = ("state", "channel", "study")
    search_fields = ("=hit_type_id", "study__slug")
    list_select_related = ("study",)


@admin.register(models.Hit)
class HitAdmin(LookOnly):
    list_display = ("key", "hit_id", "publication", "state", "created_at", "expires_at")
    list_filter = ("state", "publication__channel", "publication__study")
    search_fields = ("=hit_id", "=key")
    list_select_related = ("publication__study",)


@admin.register(models.Claim)
class ClaimAdmin(LookOnly):
    list_display = (
        "ref", "hit", "account", "theirs", "opened_at", "handed_over_at", "confirmed_at",
        "auto_approval_at",
    )  # fmt: skip
    list_filter = ("theirs", "hit__publication__channel", "hit__publication__study")
    search_fields = ("=ref", "=account__external_id", "=hit__hit_id")
    list_select_related = ("hit", "account")


@admin.register(models.Qualification)
class QualificationAdmin(LookOnly):
    list_display = ("name", "channel", "type_id", "study")
    list_filter = ("channel",)
    search_fields = ("name", "=type_id")
    list_select_related = ("study",)


@admin.register(models.Intent)
class IntentAdmin(LookOnly):
    list_display = ("token", "channel", "action", "amount", "state", "meant_at", "settled_at")
    list_filter = ("state", "channel", "action")
    search_fields = ("=token",)


@admin.register(models.Release)
class ReleaseAdmin(LookOnly):
    list_display = ("name", "version", "licence", "made_by", "made_at", "last_decision_id")
    list_filter = ("studies",)
    search_fields = ("name",)
    list_select_related = ("made_by",)


@admin.register(models.Job)
class JobAdmin(LookOnly):
    list_display = ("kind", "state", "done", "total", "study", "corpus", "asked_by", "asked_at")
    list_filter = ("state", "kind", "queue")
    list_select_related = ("study", "corpus", "asked_by")


class LoginAttempts(LookOnly):
    list_filter = ("attempt_time",)
    search_fields = ("username", "ip_address")
    exclude = ("get_data", "post_data")


@admin.register(AccessAttempt)
class AccessAttemptAdmin(LoginAttempts):
    list_display = ("attempt_time", "username", "ip_address", "failures_since_start")


@admin.register(AccessLog)
class AccessLogAdmin(LoginAttempts):
    list_display = ("attempt_time", "logout_time", "username", "ip_address")


@admin.register(AccessFailureLog)
class AccessFailureLogAdmin(LoginAttempts):
    list_display = ("attempt_time", "username", "ip_address", "locked_out")


@admin.register(models.Evaluation)
class EvaluationAdmin(LookOnly):
    list_display = ("name", "kind", "by", "at")
    list_filter = ("kind",)
    search_fields = ("name", "by__email")
    list_select_related = ("by",)
    exclude = ("tables",)

from hits.models.corpus import Blob, Caption, Corpus, Image, Region
from hits.models.curation import Curation
from hits.models.decisions import Decision
from hits.models.evaluation import Evaluation
from hits.models.imported import JudgmentImport
from hits.models.job import Job
from hits.models.ledger import Intent
from hits.models.machines import Candidate, Machine, Proposal
from hits.models.people import Account, Erasure, Invitation, Membership, Person, Role, User
from hits.models.publication import Claim, ClaimState, Hit, Publication, Qualification
from hits.models.quality import Flag, GoldDecision, Look, Opinion, PersonEvent, Reading
from hits.models.release import Release, ReleaseFile
from hits.models.study import (
    Consent,
    Exclusion,
    Participation,
    Study,
    StudyRow,
    StudyVersion,
    Unit,
    UnitSource,
)
from hits.models.work import Assignment, Judgment, Slot

__all__ = [
    "Account",
    "Assignment",
    "Blob",
    "Candidate",
    "Caption",
    "Claim",
    "ClaimState",
    "Consent",
    "Corpus",
    "Curation",
    "Decision",
    "Erasure",
    "Evaluation",
    "Exclusion",
    "Flag",
    "GoldDecision",
    "Hit",
    "Image",
    "Intent",
    "Invitation",
    "Job",
    "Judgment",
    "JudgmentImport",
    "Look",
    "Machine",
    "Membership",
    "Opinion",
    "Participation",
    "Person",
    "PersonEvent",
    "Proposal",
    "Publication",
    "Qualification",
    "Reading",
    "Region",
    "Release",
    "ReleaseFile",
    "Role",
    "Slot",
    "Study",
    "StudyRow",
    "StudyVersion",
    "Unit",
    "UnitSource",
    "User",
]

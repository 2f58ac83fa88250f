from django.urls import path

from hits.views import (
    channels,
    claims,
    corpora,
    gallery,
    releases,
    research,
    study_people,
    study_settings,
    uploads,
)

STUDY = "research/studies/<slug:slug>/"
PUBLICATION = f"{STUDY}publications/<int:pk>/"
CALL = f"{PUBLICATION}ledger/<int:call>/"
CLAIM = f"{STUDY}claims/<int:pk>/"
CORPUS = "research/corpora/<slug:slug>/"

urlpatterns = [
    path("research/", research.home, name="research"),
    path("research/forms/", gallery.forms, name="forms"),
    path("research/forms/<slug:protocol>/", gallery.form, name="form"),
    path("research/studies/new/", research.new_study, name="new_study"),
    path(STUDY, research.study, name="study"),
    path(f"{STUDY}preview/", gallery.preview, name="study_preview"),
    path(f"{STUDY}state/", research.state, name="study_state"),
    path(f"{STUDY}proposals/", research.proposals, name="study_proposals"),
    path(f"{STUDY}feeders/", research.feeders, name="study_feeders"),
    path(f"{STUDY}units/", research.units, name="study_units"),
    path(f"{STUDY}rows/", uploads.rows, name="study_rows"),
    path(f"{STUDY}imports/", uploads.imports, name="study_imports"),
    path(f"{STUDY}results/", research.results, name="study_results"),
    path(f"{STUDY}results.csv", research.results_table, name="study_results_table"),
    path(f"{STUDY}problems/", research.problems, name="study_problems"),
    path(f"{STUDY}settings/", study_settings.settings, name="study_settings"),
    path(f"{STUDY}channels/", channels.channels, name="study_channels"),
    path(f"{STUDY}channels/<slug:channel>/publish/", channels.publish, name="publish"),
    path(PUBLICATION, channels.publication, name="publication"),
    path(f"{PUBLICATION}state/", channels.state, name="publication_state"),
    path(f"{PUBLICATION}top-up/", channels.top_up, name="publication_top_up"),
    path(f"{PUBLICATION}reconcile/", channels.reconcile, name="publication_reconcile"),
    path(f"{PUBLICATION}resume/", channels.resume, name="publication_resume"),
    path(f"{PUBLICATION}claims/", claims.claims, name="publication_claims"),
    path(f"{PUBLICATION}ledger/", claims.ledger, name="publication_ledger"),
    path(f"{CALL}repeat/", claims.repeat_call, name="call_repeat"),
    path(f"{CALL}dismiss/", claims.dismiss_call, name="call_dismiss"),
    path(f"{PUBLICATION}write/", claims.write, name="publication_write"),
    path(CLAIM, claims.claim, name="claim"),
    path(f"{CLAIM}pay/", claims.pay_stranded, name="claim_pay"),
    path(f"{CLAIM}compensate/", claims.compensate, name="claim_compensate"),
    path(f"{CLAIM}<slug:name>/", claims.act, name="claim_act"),
    path(f"{STUDY}people/", study_people.people, name="study_people"),
    path(f"{STUDY}people/apart/", study_people.keep_apart, name="keep_apart"),
    path(f"{STUDY}people/<int:pk>/end/", study_people.end_membership, name="end_membership"),
    path(f"{STUDY}training/<int:person>/let-in/", study_people.let_in, name="let_in"),
    path(f"{STUDY}invitations/<int:pk>/end/", study_people.end_invitation, name="end_invitation"),
    path(f"{STUDY}releases/", releases.releases, name="study_releases"),
    path("research/releases/<int:pk>/<str:name>", releases.download, name="release_file"),
    path("research/corpora/new/", corpora.new_corpus, name="new_corpus"),
    path(CORPUS, corpora.corpus, name="corpus"),
    path(f"{CORPUS}import/", corpora.upload, name="corpus_import"),
    path(f"{CORPUS}propose/", corpora.propose, name="corpus_propose"),
    path("research/jobs/<int:pk>/", research.job, name="job"),
    path("research/jobs/<int:pk>/cancel/", research.cancel_job, name="cancel_job"),
    path("research/jobs/<int:pk>/refused.csv", corpora.refused, name="job_refused"),
]

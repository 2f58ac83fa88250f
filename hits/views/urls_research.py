from django.urls import path

from hits.views import corpora, releases, research, study_people, study_settings

STUDY = "research/studies/<slug:slug>/"
CORPUS = "research/corpora/<slug:slug>/"

urlpatterns = [
    path("research/", research.home, name="research"),
    path("research/studies/new/", research.new_study, name="new_study"),
    path(STUDY, research.study, name="study"),
    path(f"{STUDY}state/", research.state, name="study_state"),
    path(f"{STUDY}proposals/", research.proposals, name="study_proposals"),
    path(f"{STUDY}results/", research.results, name="study_results"),
    path(f"{STUDY}results.csv", research.results_table, name="study_results_table"),
    path(f"{STUDY}problems/", research.problems, name="study_problems"),
    path(f"{STUDY}settings/", study_settings.settings, name="study_settings"),
    path(f"{STUDY}people/", study_people.people, name="study_people"),
    path(f"{STUDY}people/<int:pk>/end/", study_people.end_membership, name="end_membership"),
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

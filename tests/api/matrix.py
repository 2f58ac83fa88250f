"""Who gets which status, route by route.

One line a route and method: the status for somebody anonymous, for a rater of another study
(stranger), and for the rater, the reviewer, a researcher of another study (other), the researcher
and an admin; "log" is a redirect to the login. A star stands for any model of the admin site.
What is asked of somebody who may, is asked so that it succeeds, or so that a form comes back with
errors.
"""

import re
from dataclasses import dataclass

from tests.api.world import PEOPLE

TABLE = """
route                                                  method ano  str  rat  rev  oth  res  adm

health/                                                GET    200  200  200  200  200  200  200
favicon.ico                                            GET    302  302  302  302  302  302  302
images/<sha256:sha256>                                 GET    200  200  200  200  200  200  200
notifications/<slug:channel>/                          POST   403  403  403  403  403  403  403

api/schema/                                            GET    200  200  200  200  200  200  200
api/token/                                             POST   200  200  200  200  200  200  200
api/token/                                             DELETE 401  204  204  204  204  204  204
api/me/                                                GET    401  200  200  200  200  200  200
api/join/                                              POST   401  200  200  200  200  200  200
api/register/                                          POST   201  201  201  201  201  201  201

api/corpora/                                           GET    401  200  200  200  200  200  200
api/corpora/                                           POST   401  403  403  403  201  201  201
api/corpora/<slug:slug>/                               GET    401  404  404  404  404  200  200
api/corpora/<slug:slug>/import/                        POST   401  404  404  404  404  202  202
api/corpora/<slug:slug>/images/                        GET    401  404  404  404  404  200  200
api/corpora/<slug:slug>/captions/                      GET    401  404  404  404  404  200  200
api/corpora/<slug:slug>/proposals/                     GET    401  404  404  404  404  200  200
api/corpora/<slug:slug>/proposals/compare/             GET    401  404  404  404  404  200  200
api/corpora/<slug:slug>/propose/                       POST   401  404  404  404  404  202  202
api/corpora/<slug:slug>/propose-file/                  POST   401  404  404  404  404  202  202
api/machines/                                          GET    401  403  403  403  200  200  200
api/machines/offered/                                  GET    401  403  403  403  200  200  200

api/evaluation-kinds/                                  GET    401  403  403  403  200  200  200
api/alterations/                                       POST   401  403  403  403  200  200  200
api/evaluations/                                       GET    401  403  403  403  200  200  200
api/evaluations/                                       POST   401  403  403  403  202  202  202
api/evaluations/<int:pk>/                              GET    401  403  403  403  404  200  200
api/evaluations/<int:pk>/tables/<slug:table>/<slug:form>/ GET    401  403  403  403  404  200  200

api/studies/                                           GET    401  200  200  200  200  200  200
api/studies/                                           POST   401  403  403  403  400  201  201
api/studies/<slug:slug>/                               GET    401  404  404  200  404  200  200
api/studies/<slug:slug>/                               PATCH  401  404  404  404  404  200  200
api/studies/<slug:slug>/versions/                      GET    401  404  404  404  404  200  200
api/recipes/                                           GET    401  200  200  200  200  200  200
api/corpora/<slug:slug>/recipes/<slug:recipe>/         GET    401  404  404  404  404  200  200
api/corpora/<slug:slug>/recipes/<slug:recipe>/         POST   401  403  403  403  404  202  202
api/procedures/                                        GET    401  200  200  200  200  200  200
api/studies/<slug:slug>/plan/                          GET    401  404  404  404  404  200  200
api/studies/<slug:slug>/rehearsal/                     GET    401  404  404  404  404  404  404
api/studies/<slug:slug>/rehearsal/                     POST   401  404  404  404  404  202  202
api/studies/<slug:slug>/simulate/                      POST   401  404  404  404  404  400  400
api/studies/<slug:slug>/clone/                         POST   401  404  404  404  404  201  201
api/studies/<slug:slug>/pilot/                         POST   401  404  404  404  404  201  201
api/studies/<slug:slug>/wage/                          POST   401  404  404  404  404  400  400
api/studies/<slug:slug>/open/                          POST   401  404  404  404  404  202  202
api/studies/<slug:slug>/pause/                         POST   401  404  404  404  404  200  200
api/studies/<slug:slug>/reopen/                        POST   401  404  404  404  404  200  200
api/studies/<slug:slug>/close/                         POST   401  404  404  404  404  200  200
api/studies/<slug:slug>/proposals/                     GET    401  404  404  404  404  200  200
api/studies/<slug:slug>/proposals/                     PUT    401  404  404  404  404  200  200
api/studies/<slug:slug>/feeders/                       GET    401  404  404  404  404  200  200
api/studies/<slug:slug>/feeders/                       PUT    401  404  404  404  404  200  200
api/studies/<slug:slug>/units/                         POST   401  404  404  404  404  202  202
api/studies/<slug:slug>/rows/                          POST   401  404  404  404  404  202  202
api/studies/<slug:slug>/rows/                          DELETE 401  404  404  404  404  409  409
api/studies/<slug:slug>/renovate/                      POST   401  404  404  404  404  400  400
api/studies/<slug:slug>/imports/                       GET    401  404  404  404  404  200  200
api/studies/<slug:slug>/imports/                       POST   401  404  404  404  404  202  202
api/studies/<slug:slug>/exclusions/                    GET    401  404  404  404  404  200  200
api/studies/<slug:slug>/exclusions/                    POST   401  404  404  404  404  201  201
api/studies/<slug:slug>/exclusions/<slug:other>/       DELETE 401  404  404  404  404  204  204
api/studies/<slug:slug>/members/                       GET    401  404  404  404  404  200  200
api/studies/<slug:slug>/members/                       POST   401  404  404  404  404  201  201
api/studies/<slug:slug>/members/<int:pk>/              DELETE 401  404  404  404  404  204  204
api/studies/<slug:slug>/training/                      GET    401  404  404  404  404  200  200
api/studies/<slug:slug>/training/<int:person>/let-in/  POST   401  404  404  404  404  200  200
api/studies/<slug:slug>/invitations/                   GET    401  404  404  404  404  200  200
api/studies/<slug:slug>/invitations/                   POST   401  404  404  404  404  201  201
api/studies/<slug:slug>/invitations/<int:pk>/          DELETE 401  404  404  404  404  204  204

api/studies/<slug:slug>/channels/                      GET    401  404  404  404  404  200  200
api/studies/<slug:slug>/channels/<slug:channel>/estimate/ GET    401  404  404  404  404  200  200
api/studies/<slug:slug>/publications/                  GET    401  404  404  404  404  200  200
api/studies/<slug:slug>/publications/                  POST   401  404  404  404  404  201  201
api/publications/<int:pk>/                             GET    401  404  404  404  404  200  200
api/publications/<int:pk>/state/                       POST   401  404  404  404  404  200  200
api/publications/<int:pk>/top-up/                      POST   401  404  404  404  404  200  200
api/publications/<int:pk>/reconcile/                   POST   401  404  404  404  404  202  202
api/publications/<int:pk>/resume/                      POST   401  404  404  404  404  200  200
api/publications/<int:pk>/delete/                      POST   401  404  404  404  404  409  409
api/publications/<int:pk>/notify/                      POST   401  404  404  404  404  200  200
api/publications/<int:pk>/claims/                      GET    401  404  404  404  404  200  200
api/publications/<int:pk>/ledger/                      GET    401  404  404  404  404  200  200
api/calls/<int:pk>/repeat/                             POST   401  404  404  404  404  200  200
api/calls/<int:pk>/dismiss/                            POST   401  404  404  404  404  200  200
api/claims/<int:pk>/                                   GET    401  404  404  404  404  200  200
api/claims/<int:pk>/bonus/                             POST   401  404  404  404  404  201  201
api/claims/<int:pk>/pay/                               POST   401  404  404  404  404  200  200
api/claims/<int:pk>/compensate/                        POST   401  404  404  404  404  201  201
api/claims/<int:pk>/notify/                            POST   401  404  404  404  404  200  200
api/claims/<int:pk>/block/                             POST   401  404  404  404  404  204  204
api/claims/<int:pk>/unblock/                           POST   401  404  404  404  404  204  204
api/claims/<int:pk>/exclude/                           POST   401  404  404  404  404  204  204
api/claims/<int:pk>/readmit/                           POST   401  404  404  404  404  204  204

api/work/                                              GET    401  200  200  200  200  200  200
api/studies/<slug:slug>/consent/                       GET    401  404  200  404  404  404  404
api/studies/<slug:slug>/consent/                       POST   401  404  200  404  404  404  404
api/studies/<slug:slug>/consent/                       DELETE 401  404  204  404  404  404  404
api/studies/<slug:slug>/next/                          POST   401  404  200  404  404  404  404
api/assignments/                                       GET    401  200  200  200  200  200  200
api/assignments/<uuid:key>/                            GET    401  404  200  404  404  404  404
api/assignments/<uuid:key>/draft/                      PUT    401  404  200  404  404  404  404
api/assignments/<uuid:key>/submit/                     POST   401  404  200  404  404  404  404
api/assignments/<uuid:key>/feedback/                   GET    401  404  200  404  404  404  404
api/assignments/<uuid:key>/return/                     POST   401  404  204  404  404  404  404

api/studies/<slug:slug>/review/                        GET    401  404  404  200  404  200  200
api/reviews/<uuid:key>/                                GET    401  404  404  200  404  200  200
api/reviews/<uuid:key>/decide/                         POST   401  404  404  200  404  200  200
api/studies/<slug:slug>/decisions/                     GET    401  404  404  200  404  200  200
api/reviews/<uuid:key>/seen/                           POST   401  404  404  204  404  204  204
api/reviews/<uuid:key>/second/                         POST   401  404  404  201  404  201  201
api/reviews/<uuid:key>/take-back/                      POST   401  404  404  409  404  409  409
api/studies/<slug:slug>/decide/                        POST   401  404  404  202  404  202  202
api/studies/<slug:slug>/decide/<int:pk>/take-back/     POST   401  404  404  202  404  403  403
api/studies/<slug:slug>/signals/                       GET    401  404  404  200  404  200  200
api/studies/<slug:slug>/signals/                       POST   401  404  404  202  404  202  202
api/studies/<slug:slug>/flags/                         GET    401  404  404  200  404  200  200
api/studies/<slug:slug>/people/                        GET    401  404  404  200  404  200  200
api/studies/<slug:slug>/people/<int:person>/           GET    401  404  404  200  404  200  200
api/studies/<slug:slug>/people/<int:person>/           POST   401  404  404  201  404  201  201
api/studies/<slug:slug>/appeals/                       GET    401  404  404  200  404  200  200
api/studies/<slug:slug>/appeals/<int:pk>/answer/       POST   401  404  404  201  404  201  201
api/studies/<slug:slug>/appeal/                        GET    401  404  200  404  404  404  404
api/studies/<slug:slug>/appeal/                        POST   401  404  201  404  404  404  404
api/studies/<slug:slug>/golds-in-doubt/                GET    401  404  404  200  404  200  200
api/studies/<slug:slug>/golds-in-doubt/                POST   401  404  404  201  404  201  201

api/studies/<slug:slug>/curations/                     GET    401  404  404  404  404  200  200
api/studies/<slug:slug>/remove/                        POST   401  404  404  404  404  200  200
api/studies/<slug:slug>/restore/                       POST   401  404  404  404  404  200  200
api/studies/<slug:slug>/doubtful/                      GET    401  404  404  404  404  200  200
api/studies/<slug:slug>/doubtful/                      POST   401  404  404  404  404  200  200
api/studies/<slug:slug>/rejudge/                       POST   401  404  404  404  404  200  200
api/studies/<slug:slug>/overlap/                       POST   401  404  404  404  404  200  200
api/studies/<slug:slug>/golds/                         GET    401  404  404  404  404  200  200
api/studies/<slug:slug>/golds/                         POST   401  404  404  404  404  201  201
api/studies/<slug:slug>/golds/retire/                  POST   401  404  404  404  404  204  204

api/studies/<slug:slug>/results/                       GET    401  404  404  404  404  200  200
api/studies/<slug:slug>/report/                        GET    401  404  404  404  404  200  200
api/studies/<slug:slug>/report/                        POST   401  404  404  404  404  202  202
api/studies/<slug:slug>/report/<slug:table>/<slug:form>/ GET    401  404  404  404  404  200  200
api/studies/<slug:slug>/judgments/                     GET    401  404  404  404  404  200  200
api/studies/<slug:slug>/releases/                      GET    401  404  404  404  404  200  200
api/studies/<slug:slug>/releases/                      POST   401  404  404  404  404  202  202
api/releases/                                          GET    401  200  200  200  200  200  200
api/releases/<int:pk>/                                 GET    401  404  404  404  404  200  200
api/releases/<int:pk>/links/                           POST   401  404  404  404  404  200  200
api/releases/<int:pk>/files/<str:name>/                GET    401  404  404  404  404  200  200

api/erasures/                                          GET    401  403  403  403  403  403  200
api/erasures/                                          POST   401  403  403  403  403  403  201

api/jobs/                                              GET    401  200  200  200  200  200  200
api/jobs/<int:pk>/                                     GET    401  404  404  404  404  200  200
api/jobs/<int:pk>/cancel/                              POST   401  404  404  404  404  200  200
api/jobs/<int:pk>/refused/                             GET    401  404  404  404  404  200  200

api/                                                   GET    404  404  404  404  404  404  404
api/<path:unknown>/                                    GET    404  404  404  404  404  404  404
api/<path:unknown>/                                    POST   404  404  404  404  404  404  404

/                                                      GET    log  200  200  302  302  302  302
login/                                                 GET    200  302  302  302  302  302  302
login/                                                 POST   200  302  302  302  302  302  302
logout/                                                POST   log  log  log  log  log  log  log
password/                                              GET    200  200  200  200  200  200  200
password/                                              POST   200  200  200  200  200  200  200
password/sent/                                         GET    200  200  200  200  200  200  200
password/<uidb64>/<token>/                             GET    200  200  200  200  200  200  200
password/<uidb64>/<token>/                             POST   200  200  200  200  200  200  200
password/changed/                                      GET    200  200  200  200  200  200  200
join/<str:token>/                                      GET    200  200  302  200  200  200  200
join/<str:token>/                                      POST   200  302  302  302  302  302  302
notes/<str:signed>/                                    GET    200  200  200  200  200  200  200
notes/<str:signed>/                                    POST   422  422  422  422  422  422  422
studies/<slug:slug>/consent/                           GET    log  404  200  404  404  404  404
studies/<slug:slug>/consent/                           POST   log  404  302  404  404  404  404
studies/<slug:slug>/withdraw/                          GET    log  404  200  404  404  404  404
studies/<slug:slug>/withdraw/                          POST   log  404  302  404  404  404  404
studies/<slug:slug>/next/                              POST   log  404  302  404  404  404  404
work/                                                  GET    log  200  200  200  200  200  200
studies/<slug:slug>/appeal/                            POST   log  404  302  404  404  404  404
work/<uuid:key>/                                       GET    log  404  200  404  404  404  404
work/<uuid:key>/done/                                  GET    log  404  200  404  404  404  404
work/<uuid:key>/save                                   POST   401  404  200  404  404  404  404
work/<uuid:key>/submit                                 POST   log  404  422  404  404  404  404
work/<uuid:key>/return                                 POST   log  404  302  404  404  404  404


hit/<str:signed_key>/                                  GET    200  200  200  200  200  200  200
hit/<str:signed_key>/agree                             POST   302  302  302  302  302  302  302
hit/<str:signed_key>/save                              POST   200  200  200  200  200  200  200
hit/<str:signed_key>/submit                            POST   422  422  422  422  422  422  422
hit/<str:signed_key>/handed-over                       POST   204  204  204  204  204  204  204
hit/<str:signed_key>/withdraw                          POST   200  200  200  200  200  200  200
hit/<path:anything>                                    GET    404  404  404  404  404  404  404
hit/<path:anything>                                    POST   404  404  404  404  404  404  404

review/                                                GET    log  404  404  200  200  200  200
review/<slug:slug>/                                    GET    log  404  404  302  404  302  302
review/<slug:slug>/decided/                            GET    log  404  404  200  404  200  200
review/<slug:slug>/undo/                               POST   log  404  404  302  404  302  302
review/<slug:slug>/<uuid:key>/                         GET    log  404  404  200  404  200  200
review/<slug:slug>/<uuid:key>/                         POST   log  404  404  422  404  422  422
review/<slug:slug>/many/                               GET    log  404  404  200  404  200  200
review/<slug:slug>/many/                               POST   log  404  404  422  404  422  422
review/<slug:slug>/many/<int:job>/undo/                POST   log  404  404  302  404  302  302
review/<slug:slug>/signals/                            POST   log  404  404  302  404  302  302
review/<slug:slug>/people/                             GET    log  404  404  200  404  200  200
review/<slug:slug>/people/<int:person>/                GET    log  404  404  200  404  200  200
review/<slug:slug>/people/<int:person>/                POST   log  404  404  422  404  422  422
review/<slug:slug>/appeals/<int:pk>/                   POST   log  404  404  302  404  302  302
review/<slug:slug>/golds/                              GET    log  404  404  200  404  200  200
review/<slug:slug>/golds/                              POST   log  404  404  422  404  422  422
review/<slug:slug>/<uuid:key>/replay/                  GET    log  404  404  200  404  200  200
review/<slug:slug>/<uuid:key>/seen/                    POST   log  404  404  204  404  204  204
review/<slug:slug>/<uuid:key>/refuse/                  GET    log  404  404  200  404  200  200
review/<slug:slug>/<uuid:key>/refuse/                  POST   log  404  404  422  404  422  422
review/<slug:slug>/<uuid:key>/second/                  POST   log  404  404  302  404  302  302

research/                                              GET    log  404  404  404  200  200  200
research/forms/                                        GET    log  404  404  404  200  200  200
research/forms/<slug:protocol>/                        GET    log  404  404  404  200  200  200
research/forms/<slug:protocol>/                        POST   log  404  404  404  422  422  422
research/evaluations/                                  GET    log  404  404  404  200  200  200
research/evaluations/altered-queries/                  GET    log  404  404  404  200  200  200
research/evaluations/altered-queries/                  POST   log  404  404  404  422  422  422
research/evaluations/new/<slug:kind>/                  GET    log  404  404  404  200  200  200
research/evaluations/new/<slug:kind>/                  POST   log  404  404  404  422  422  422
research/evaluations/<int:pk>/                         GET    log  404  404  404  404  200  200
research/evaluations/<int:pk>/<slug:table>.<slug:form> GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/preview/                  GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/preview/                  POST   log  404  404  404  404  422  422
research/recipes/                                      GET    log  404  404  404  200  200  200
research/recipes/<slug:recipe>/                        GET    log  404  404  404  200  200  200
research/recipes/<slug:recipe>/                        POST   log  404  404  404  200  200  200
research/recipes/<slug:recipe>/<slug:slug>/<slug:name>/ GET    log  404  404  404  404  200  200
research/recipes/<slug:recipe>/<slug:slug>/<slug:name>/ POST   log  404  404  404  404  302  302
research/studies/new/                                  GET    log  404  404  404  200  200  200
research/studies/new/                                  POST   log  404  404  404  200  200  200
research/studies/<slug:slug>/                          GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/plan/                     GET    log  404  404  404  404  302  302
research/studies/<slug:slug>/renovate/                 GET    log  404  404  404  404  302  302
research/studies/<slug:slug>/renovate/                 POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/propose/                  GET    log  404  404  404  404  302  302
research/studies/<slug:slug>/propose/                  POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/rehearsal/                GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/rehearsal/                POST   log  404  404  404  404  422  422
research/studies/<slug:slug>/clone/                    GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/clone/                    POST   log  404  404  404  404  200  200
research/studies/<slug:slug>/pilot/                    GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/pilot/                    POST   log  404  404  404  404  200  200
research/studies/<slug:slug>/pilot/<slug:pilot>/pay/   POST   log  404  404  404  404  404  404
research/studies/<slug:slug>/state/                    POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/proposals/                POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/feeders/                  POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/units/                    POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/people/apart/             POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/rows/                     POST   log  404  404  404  404  422  422
research/studies/<slug:slug>/rows/remove/              POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/imports/                  GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/imports/                  POST   log  404  404  404  404  422  422
research/studies/<slug:slug>/results/                  GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/results.csv               GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/report/                   GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/report/                   POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/curation/                 GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/curation/rated-low/       POST   log  404  404  404  404  422  422
research/studies/<slug:slug>/curation/<slug:act>/      POST   log  404  404  404  404  422  422
research/studies/<slug:slug>/report/<slug:table>.<slug:form> GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/problems/                 GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/settings/                 GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/settings/                 POST   log  404  404  404  404  200  200
research/studies/<slug:slug>/channels/                 GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/channels/<slug:channel>/publish/ GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/channels/<slug:channel>/publish/ POST   log  404  404  404  404  422  422
research/studies/<slug:slug>/publications/<int:pk>/    GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/publications/<int:pk>/state/ POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/publications/<int:pk>/top-up/ POST   log  404  404  404  404  422  422
research/studies/<slug:slug>/publications/<int:pk>/reconcile/ POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/publications/<int:pk>/resume/ POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/publications/<int:pk>/delete/ POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/publications/<int:pk>/claims/ GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/publications/<int:pk>/ledger/ GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/publications/<int:pk>/ledger/<int:call>/repeat/ POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/publications/<int:pk>/ledger/<int:call>/dismiss/ POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/publications/<int:pk>/write/ GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/publications/<int:pk>/write/ POST   log  404  404  404  404  422  422
research/studies/<slug:slug>/claims/<int:pk>/          GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/claims/<int:pk>/pay/      POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/claims/<int:pk>/compensate/ POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/claims/<int:pk>/<slug:name>/ GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/claims/<int:pk>/<slug:name>/ POST   log  404  404  404  404  422  422
research/studies/<slug:slug>/people/                   GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/people/                   POST   log  404  404  404  404  200  200
research/studies/<slug:slug>/people/<int:pk>/end/      POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/training/<int:person>/let-in/ POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/invitations/<int:pk>/end/ POST   log  404  404  404  404  302  302
research/studies/<slug:slug>/releases/                 GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/releases/                 POST   log  404  404  404  404  200  200
research/studies/<slug:slug>/releases/<int:pk>/links/  GET    log  404  404  404  404  200  200
research/studies/<slug:slug>/releases/<int:pk>/links/  POST   log  404  404  404  404  200  200
research/releases/<int:pk>/<str:name>                  GET    log  404  404  404  404  200  200
downloads/<str:name>                                   GET    410  410  410  410  410  410  410
research/erasures/                                     GET    log  404  404  404  404  404  200
research/erasures/                                     POST   log  404  404  404  404  404  200
research/corpora/new/                                  GET    log  404  404  404  200  200  200
research/corpora/new/                                  POST   log  404  404  404  200  200  200
research/corpora/<slug:slug>/                          GET    log  404  404  404  404  200  200
research/corpora/<slug:slug>/import/                   POST   log  404  404  404  404  422  422
research/corpora/<slug:slug>/proposals/                GET    log  404  404  404  404  200  200
research/corpora/<slug:slug>/propose/                  POST   log  404  404  404  404  422  422
research/corpora/<slug:slug>/propose-file/             POST   log  404  404  404  404  422  422
research/jobs/<int:pk>/                                GET    log  404  404  404  404  200  200
research/jobs/<int:pk>/cancel/                         POST   log  404  404  404  404  302  302
research/jobs/<int:pk>/refused.csv                     GET    log  404  404  404  404  200  200

admin/login/                                           GET    200  200  200  200  200  200  302
admin/login/                                           POST   200  200  200  200  200  200  200
admin/                                                 GET    log  log  log  log  log  log  200
admin/                                                 POST   log  log  log  log  log  log  200
admin/logout/                                          GET    302  302  302  302  302  302  405
admin/logout/                                          POST   302  302  302  302  302  302  log
admin/password_change/                                 GET    log  log  log  log  log  log  200
admin/password_change/                                 POST   log  log  log  log  log  log  200
admin/password_change/done/                            GET    log  log  log  log  log  log  200
admin/password_change/done/                            POST   log  log  log  log  log  log  405
admin/autocomplete/                                    GET    log  log  log  log  log  log  403
admin/autocomplete/                                    POST   log  log  log  log  log  log  405
admin/jsi18n/                                          GET    log  log  log  log  log  log  200
admin/jsi18n/                                          POST   log  log  log  log  log  log  405
admin/r/<path:content_type_id>/<path:object_id>/       GET    log  log  log  log  log  log  404
admin/r/<path:content_type_id>/<path:object_id>/       POST   log  log  log  log  log  log  404
admin/<app_label>/                                     GET    log  log  log  log  log  log  200
admin/<app_label>/                                     POST   log  log  log  log  log  log  200
admin/<url>                                            GET    log  log  log  log  log  log  404
admin/<url>                                            POST   log  log  log  log  log  log  404

admin/hits/*/                                          GET    log  log  log  log  log  log  200
admin/hits/*/                                          POST   log  log  log  log  log  log  200
admin/hits/*/add/                                      GET    log  log  log  log  log  log  403
admin/hits/*/add/                                      POST   log  log  log  log  log  log  403
admin/hits/*/<path:object_id>/                         GET    log  log  log  log  log  log  302
admin/hits/*/<path:object_id>/                         POST   log  log  log  log  log  log  302
admin/hits/*/<path:object_id>/change/                  GET    log  log  log  log  log  log  200
admin/hits/*/<path:object_id>/change/                  POST   log  log  log  log  log  log  403
admin/hits/*/<path:object_id>/delete/                  GET    log  log  log  log  log  log  403
admin/hits/*/<path:object_id>/delete/                  POST   log  log  log  log  log  log  403
admin/hits/*/<path:object_id>/history/                 GET    log  log  log  log  log  log  200
admin/hits/*/<path:object_id>/history/                 POST   log  log  log  log  log  log  200

admin/axes/*/                                          GET    log  log  log  log  log  log  200
admin/axes/*/                                          POST   log  log  log  log  log  log  200
admin/axes/*/add/                                      GET    log  log  log  log  log  log  403
admin/axes/*/add/                                      POST   log  log  log  log  log  log  403
admin/axes/*/<path:object_id>/                         GET    log  log  log  log  log  log  302
admin/axes/*/<path:object_id>/                         POST   log  log  log  log  log  log  302
admin/axes/*/<path:object_id>/change/                  GET    log  log  log  log  log  log  200
admin/axes/*/<path:object_id>/change/                  POST   log  log  log  log  log  log  403
admin/axes/*/<path:object_id>/delete/                  GET    log  log  log  log  log  log  403
admin/axes/*/<path:object_id>/delete/                  POST   log  log  log  log  log  log  403
admin/axes/*/<path:object_id>/history/                 GET    log  log  log  log  log  log  200
admin/axes/*/<path:object_id>/history/                 POST   log  log  log  log  log  log  200
"""  # noqa: E501


@dataclass(frozen=True)
class Row:
    route: str
    method: str
    expected: dict[str, str]

    def is_of(self, path: str) -> bool:
        pattern = re.escape(self.route).replace(r"\*", "[^/<]+")
        return re.fullmatch(pattern, path) is not None


def rows() -> list[Row]:
    lines = [line.split() for line in TABLE.strip().splitlines()[1:] if line.strip()]
    return [
        Row("" if route == "/" else route, method, dict(zip(PEOPLE, statuses, strict=True)))
        for route, method, *statuses in lines
    ]

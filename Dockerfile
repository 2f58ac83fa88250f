FROM python:3.11-slim AS packages

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/venv
ENV PATH="/opt/venv/bin:$PATH"
WORKDIR /app
COPY pyproject.toml constraints.txt ./
# "torch" for the GPU worker; nothing else needs it.
ARG EXTRAS=""
RUN pip install --constraint constraints.txt ".${EXTRAS:+[$EXTRAS]}"


FROM python:3.11-slim

ENV PATH="/opt/venv/bin:$PATH" \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    DATA_DIR=/data
RUN groupadd --gid 10001 app \
    && useradd --uid 10001 --gid app --no-create-home --shell /usr/sbin/nologin app \
    && install --directory --owner=app --group=app /data
COPY --from=packages /opt/venv /opt/venv
WORKDIR /app
COPY . .
# These settings serve this one command, which connects to nothing.
RUN ENVIRONMENT=development DATABASE_URL=postgresql://none/none REDIS_URL=redis://none \
    python manage.py collectstatic --no-input --verbosity 0
USER 10001
EXPOSE 8000
# The number of processes comes from WEB_CONCURRENCY.
CMD ["gunicorn", "annotation_app.wsgi:application", \
     "--bind", "0.0.0.0:8000", "--worker-class", "gthread", "--threads", "4", \
     "--worker-tmp-dir", "/dev/shm", "--no-control-socket"]

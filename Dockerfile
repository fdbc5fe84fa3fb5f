# A service for one model file: docker run -p 8000:8000 -v ./model.aldsurv:/models/model.aldsurv:ro IMAGE
# Without torch: what is needed to predict, and FastAPI. `make docker` runs these steps without an engine.
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m pip wheel --no-cache-dir --disable-pip-version-check --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
COPY --from=build /wheels /wheels
COPY constraints.txt /wheels/
RUN python -m pip install --no-cache-dir --disable-pip-version-check --constraint /wheels/constraints.txt "$(ls /wheels/*.whl)[serve]"
RUN useradd --system --uid 10001 --no-create-home aldsurv
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
USER 10001
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["aldsurv", "serve", "--host", "0.0.0.0", "--port", "8000"]
CMD ["/models/model.aldsurv"]

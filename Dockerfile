# nanoproof on a CPU with NanoLean: no GPU, no Lean (for a server of real Lean see runs/lean-server/Dockerfile).
#     docker build -t nanoproof .
#     docker run --rm -v "$PWD:/project" nanoproof prove FILE.lean --policy solver-only
# Files of the project are written as user 1000; for another one add --user "$(id -u)". It was never built with docker.
FROM python:3.12-slim-bookworm

# git makes the branches of `repos prove --branch`, and says which revision of a project was read. g++ compiles the policy
# for the processor that it runs on (`--engine native`): without it a network takes several times as long.
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 prover \
    && install -d -o prover -g prover -m 1777 /data /project

# uv knows PyTorch's builds for CPUs; the default ones bring gigabytes of CUDA.
ARG UV=0.13.9
COPY pyproject.toml setup.py README.md LICENSE /opt/source/
COPY nanoproof /opt/source/nanoproof
COPY nanolean /opt/source/nanolean
COPY scripts /opt/source/scripts
COPY data /opt/source/data
RUN python -c 'import tomllib; print(*tomllib.load(open("/opt/source/pyproject.toml", "rb"))["tool"]["uv"]["constraint-dependencies"], sep="\n")' > /tmp/pins.txt \
    && pip install --no-cache-dir "uv==$UV" \
    && uv pip install --system --no-cache --torch-backend cpu --constraint /tmp/pins.txt '/opt/source[cpu,hf,mcp]' \
    && rm -rf /opt/source /tmp/pins.txt

ENV NANOPROOF_HOME=/data
VOLUME /data
WORKDIR /project
USER prover
ENTRYPOINT ["nanoproof"]
CMD ["--help"]

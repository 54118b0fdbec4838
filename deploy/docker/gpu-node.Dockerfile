# Build from the root of the repository:
#   docker build -f deploy/docker/gpu-node.Dockerfile -t halogrid-gpu-node .
FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY apps/bench/package.json apps/bench/
COPY apps/cli/package.json apps/cli/
COPY apps/console/package.json apps/console/
COPY apps/coordinator/package.json apps/coordinator/
COPY apps/gpu-node/package.json apps/gpu-node/
COPY deploy/package.json deploy/
COPY libs/client/package.json libs/client/
COPY libs/geometry/package.json libs/geometry/
COPY libs/imaging/package.json libs/imaging/
COPY libs/jpeg/package.json libs/jpeg/
COPY libs/kernels/package.json libs/kernels/
COPY libs/proto/package.json libs/proto/
COPY libs/results/package.json libs/results/
COPY libs/search/package.json libs/search/
COPY libs/service/package.json libs/service/
COPY libs/sources/package.json libs/sources/
COPY libs/testing/package.json libs/testing/
COPY libs/threads/package.json libs/threads/
COPY test/package.json test/
# Every native dependency comes built in its package: no install script is needed on Linux.
RUN npm ci --omit=dev --ignore-scripts
# 'no' leaves FFmpeg out, which is under GPL 3, and videos with it: see THIRD-PARTY-NOTICES.md.
ARG FFMPEG=yes
RUN if [ "$FFMPEG" = no ]; then rm -rf node_modules/@seydx; fi

FROM node:24.21.0-bookworm-slim
# What NVIDIA's Vulkan driver needs from the image: the loader, and libEGL and libXext, which the driver's libGLX_nvidia
# loads even without a display. Seen on an H200: with the loader alone vkCreateInstance fails with "Found no drivers".
RUN apt-get update \
  && apt-get install -y --no-install-recommends libegl1 libvulkan1 libxext6 \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json LICENSE THIRD-PARTY-NOTICES.md ./
COPY licenses licenses
COPY libs libs
COPY apps apps
COPY samples samples
COPY deploy/docker/halogrid /usr/local/bin/
RUN mkdir /data && chown 65532:65532 /data
USER 65532:65532
# 'graphics' makes the NVIDIA container toolkit mount the Vulkan driver, and 'video' libnvcuvid, which decodes recordings; its
# default is compute and utility only.
ENV NODE_ENV=production \
  NVIDIA_DRIVER_CAPABILITIES=graphics,video,compute,utility
EXPOSE 9465
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9465/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["halogrid"]
CMD ["node", "--coordinator", "coordinator:7070"]

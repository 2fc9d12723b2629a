# The image of Towpath, from the source: `docker build -t towpath .`. docs/hosting.md says how to run it.
FROM node:22-bookworm-slim AS build
WORKDIR /opt/towpath
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
COPY . .
# The final image has the finished dashboard, so it needs none of the packages that the bundler reads. Only the heavy ones
# are worth a line. Bun has its program twice, and source maps are for people who debug packages.
RUN npm run build \
  && cd node_modules \
  && rm -rf lucide-react @fontsource-variable react-dom @base-ui @tanstack @tailwindcss tailwindcss oxc-parser @oxc-parser bun/bin/bunx.exe .bin/bunx \
  && find . -name '*.map' -type f -delete

FROM debian:bookworm-slim
COPY --from=build /opt/towpath /opt/towpath
# `towpath doctor` in a container is what `npx towpath doctor` is elsewhere.
RUN useradd --no-create-home --uid 1000 --home-dir /data --shell /usr/sbin/nologin towpath \
  && install -d -o towpath -g towpath -m 0700 /data /backups \
  && printf '#!/bin/sh\nexec /opt/towpath/node_modules/.bin/bun /opt/towpath/server/cli/main.ts "$@"\n' > /usr/local/bin/towpath \
  && chmod 755 /usr/local/bin/towpath
WORKDIR /opt/towpath
ENV DATA_DIR=/data
# A number: Kubernetes must see that it is not root.
USER 1000
VOLUME /data
EXPOSE 3000 3001
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node_modules/.bin/bun", "-e", "process.exit((await fetch(`http://127.0.0.1:${process.env.PORT ?? 3000}/readyz`)).ok ? 0 : 1)"]
# The process that gets SIGTERM must be the server: no shell and no npm before it.
CMD ["node_modules/.bin/bun", "server/main.ts"]

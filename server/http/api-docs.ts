// Serves /docs, the API reference. The page loads its files from this origin only.

import { Hono } from 'hono'
import { sendStaticFile } from './static-file.ts'

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Towpath API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/theme.css">
</head>
<body>
<div id="reference"><p class="wait">Loading the API reference … <a href="/v1/openapi.json">openapi.json</a></p></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`

// A file of its own, because the policy below allows no inline script.
const START = `
const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()
SwaggerUIBundle({
  url: '/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  validatorUrl: null,
})
`

const THEME = `
body { margin: 0; font-family: system-ui, sans-serif; background: #fff; color: #1c2421 }
html.dark-mode body { background: #1c2022; color: #e8ecea }
.wait { padding: 2rem }
.swagger-ui .topbar { display: none }
.swagger-ui .info { margin: 2rem 0 }
`

// Swagger UI sets styles from its script, and its icons are data: images.
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Robots-Tag': 'noindex',
}

const CSS = 'text/css; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'
const FILES = { 'swagger-ui.css': CSS, 'swagger-ui-bundle.js': SCRIPT } as const

export function createApiDocs() {
  const cacheForDay = { 'Cache-Control': 'public, max-age=86400' }
  const send = (request: Request, type: string, content: Uint8Array<ArrayBuffer> | Bun.BunFile) =>
    sendStaticFile(request, { type, content }, cacheForDay)
  const encode = (text: string) => new TextEncoder().encode(text)
  const app = new Hono()
    .get('/docs', (c) => c.html(PAGE, 200, HEADERS))
    .get('/docs/start.js', (c) => send(c.req.raw, SCRIPT, encode(START)))
    .get('/docs/theme.css', (c) => send(c.req.raw, CSS, encode(THEME)))
  for (const [name, type] of Object.entries(FILES)) {
    const file = Bun.file(Bun.resolveSync(`swagger-ui-dist/${name}`, import.meta.dir))
    app.get(`/docs/${name}`, (c) => send(c.req.raw, type, file))
  }
  return app
}

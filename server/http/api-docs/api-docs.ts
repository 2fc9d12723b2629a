// Serves /docs, the API reference, and /docs/recipes. The pages load their files from this origin only.

import { Hono } from 'hono'
import { sendStaticFile } from '../static-file.ts'
import { renderRecipes } from './recipes-page.ts'

const toDocument = (title: string, head: string, body: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
${head}
<link rel="stylesheet" href="/docs/theme.css">
</head>
<body>
${body}
</body>
</html>
`

const REFERENCE = toDocument(
  'Towpath API reference',
  '<link rel="stylesheet" href="/docs/swagger-ui.css">',
  `<nav aria-label="Documentation"><a href="/docs" aria-current="page">API reference</a> <a href="/docs/recipes">Recipes</a>
<a href="/v1/openapi.json">openapi.json</a> <a href="/app">Dashboard</a></nav>
<div id="reference"><p class="wait">Loading the API reference …</p></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/reference.js"></script>`,
)

// Swagger UI sets styles from its script, and its icons are data: images.
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const RECIPES_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'"

const toHeaders = (policy: string) => ({
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Robots-Tag': 'noindex',
})

const CSS = 'text/css; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'
const FILES = {
  'theme.css': [CSS, './theme.css'],
  'reference.js': [SCRIPT, './reference.js'],
  'recipes.js': [SCRIPT, './recipes.js'],
  'swagger-ui.css': [CSS, 'swagger-ui-dist/swagger-ui.css'],
  'swagger-ui-bundle.js': [SCRIPT, 'swagger-ui-dist/swagger-ui-bundle.js'],
} as const

/** @param origin the server's public origin, which the recipes name */
export function createApiDocs(origin: string) {
  // Rendered at the first request, not at every start.
  let recipes: string | undefined
  const getRecipes = () => (recipes ??= toDocument('Towpath API recipes', '', renderRecipes(origin)))
  const app = new Hono()
    .get('/docs', (c) => c.html(REFERENCE, 200, toHeaders(POLICY)))
    .get('/docs/recipes', (c) => c.html(getRecipes(), 200, toHeaders(RECIPES_POLICY)))
  for (const [name, [type, path]] of Object.entries(FILES)) {
    const content = Bun.file(Bun.resolveSync(path, import.meta.dir))
    const seconds = path.startsWith('.') ? 600 : 86_400
    app.get(`/docs/${name}`, (c) =>
      sendStaticFile(c.req.raw, { type, content }, { 'Cache-Control': `public, max-age=${seconds}` }),
    )
  }
  return app
}

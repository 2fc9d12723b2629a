// /app: the dashboard's page and its files. They are bundled by a process of its own when somebody first asks for
// them (or before the start, by `npm start`), so that the bundler's memory is never the server's.

import { join } from 'node:path'
import { html, raw } from 'hono/html'
import { toErrorResponse } from './http/error-response.ts'
import { requestId } from './http/request-id.ts'
import { notFound, unavailable } from './lib/failure.ts'
import { log } from './lib/log.ts'

const BUILD = join(import.meta.dir, '../dashboard/build.ts')

// Nothing but our own files, no inline script or style, and no text ever becomes markup (Trusted Types). Pictures may
// be made in the page (QR codes).
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

interface Built {
  script: string
  style: string
  preload: string[]
}

interface Dashboard {
  directory: string
  page: string
}

const FILE = /^[\w-]+\.(js|css)$/
const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' }

/** @param origin with https the browser is told to keep to it */
export function openDashboard({ origin }: { origin: string }) {
  let opened: Promise<Dashboard> | undefined
  const open = () => {
    opened ??= build().catch((error) => {
      opened = undefined
      throw error
    })
    return opened
  }
  const secure = origin.startsWith('https:') ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}

  return async (request: Request): Promise<Response> => {
    const id = requestId(request.headers.get('x-request-id'))
    try {
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        return Response.json(
          { error: 'Method not allowed' },
          { status: 405, headers: { Allow: 'GET, HEAD', 'X-Request-Id': id } },
        )
      }
      const { directory, page } = await open()
      const name = /\/app\/assets\/([^/?#]*)/.exec(request.url)?.[1]
      if (name !== undefined) return await sendFile(request, directory, name)
      return new Response(page, {
        headers: { ...PAGE_HEADERS, ...secure, 'X-Request-Id': id },
      })
    } catch (error) {
      return toErrorResponse(error, id)
    }
  }
}

const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  // Names of files change with every version: the page that names them must be the newest.
  'Cache-Control': 'no-cache',
}

async function sendFile(request: Request, directory: string, name: string): Promise<Response> {
  const kind = FILE.exec(name)?.[1] as keyof typeof TYPES | undefined
  const zipped = /\bgzip\b/i.test(request.headers.get('accept-encoding') ?? '')
  const file = kind && Bun.file(join(directory, zipped ? `${name}.gz` : name))
  // A page of before an upgrade may ask for what is gone.
  if (!file || !(await file.exists())) throw notFound('')
  return new Response(request.method === 'HEAD' ? null : file, {
    headers: {
      'Content-Type': TYPES[kind],
      'Content-Length': String(file.size),
      'Cache-Control': 'public, max-age=31536000, immutable',
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Accept-Encoding',
      ...(zipped ? { 'Content-Encoding': 'gzip' } : {}),
    },
  })
}

async function build(): Promise<Dashboard> {
  const child = Bun.spawn([process.execPath, BUILD], { stdout: 'pipe', stderr: 'pipe' })
  const [said, complaint] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) {
    log.error('dashboard_not_built', { reason: complaint.slice(0, 4096) })
    throw unavailable(new Error('the dashboard could not be bundled'), 10)
  }
  const directory = said.trim()
  const built = (await Bun.file(join(directory, 'built.json')).json()) as Built
  return { directory, page: (await pageOf(built)).toString() }
}

// "/app/assets", not relative: the same page answers every address below /app.
const pageOf = ({ script, style, preload }: Built) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Towpath</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="/app/assets/${style}">
${raw(preload.map((name) => `<link rel="modulepreload" href="/app/assets/${name}">`).join('\n'))}
<script type="module" src="/app/assets/${script}"></script>
</head>
<body><div id="root"></div><noscript>The dashboard needs JavaScript. Links, forms and the API work without it.</noscript></body>
</html>
`

/** Two banks and the path between them. */
const ICON =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#17624a"/>' +
      '<path d="M9 25c0-9 14-9 14-18" fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round"/>' +
      '<circle cx="23" cy="7" r="3.5" fill="#fff"/><circle cx="9" cy="25" r="3.5" fill="#fff"/></svg>',
  )

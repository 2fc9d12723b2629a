// Serves /app, the dashboard's page and its files. A process of its own bundles them at the first request (or before the
// start, by `npm start`), so that the server never holds the bundler's memory. Servers on one PostgreSQL find the files of
// each other's releases in rows.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { html, raw } from 'hono/html'
import { toErrorResponse } from '../http/error-response.ts'
import { requestId } from '../http/request-id.ts'
import { type StaticFile, sendStaticFile } from '../http/static-file.ts'
import { notFound, unavailable } from '../lib/failure.ts'
import { describeError, log } from '../lib/log.ts'
import type { BuiltFileStore } from '../storage/built-file-store.ts'
import { choosePageLanguage } from './page-language.ts'

const BUILD = join(import.meta.dir, '../../dashboard/build.ts')

// The page loads files of this origin only, has no inline script or style, and no text becomes markup (Trusted Types).
// The page itself makes pictures: QR codes.
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

/** `built.json` of dashboard/build.ts. */
interface BuildManifest {
  script: string
  boot: string
  style: string
  font: string
  preload: string[]
  pages: Record<string, string[]>
  workspaceFrame: string
  centeredFrame: string
  /** The languages besides English. */
  languages: string[]
}

interface Dashboard {
  directory: string
  manifest: BuildManifest
  /** The pages of each requested language. */
  pages: Map<string, Promise<Pages>>
}

interface Pages {
  /** The pages of a workspace, which preload the files of their content; the last one matches every path. */
  workspacePages: { path: RegExp; html: string }[]
  /** The page with the frame of sign-in. */
  centeredPage: string
}

const FILE = /^[\w-]+\.(js|css|woff2)$/
/** The bundler puts eight characters of the content's hash into each name. */
const HASHED = /^[\w-]+-[0-9a-z]{8}\.(js|css|woff2)$/
const TYPES = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  // The format is compressed, so such a file has no gzip file beside it.
  woff2: 'font/woff2',
}

export interface DashboardNeeds {
  /** Where servers on one database find the files of other releases. */
  builtFiles?: BuiltFileStore
  /** The file that bundles the dashboard and prints the directory of the files. */
  build?: string
}

export function createDashboard({ builtFiles, build: file = BUILD }: DashboardNeeds) {
  let building: Promise<Dashboard> | undefined
  const getDashboard = () => {
    building ??= openBuild({ build: file, builtFiles }).catch((error) => {
      building = undefined
      throw error
    })
    return building
  }

  return {
    /** Bundles the files, which the first request would do otherwise. */
    prepare: async () => void (await getDashboard()),
    answer: (request: Request) => answer(request, getDashboard, { builtFiles, build: file }),
  }
}

type BuildNeeds = Required<Pick<DashboardNeeds, 'build'>> & Pick<DashboardNeeds, 'builtFiles'>

async function answer(
  request: Request,
  getDashboard: () => Promise<Dashboard>,
  needs: BuildNeeds,
): Promise<Response> {
  const id = requestId(request.headers.get('x-request-id'))
  try {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return Response.json(
        { error: 'Method not allowed' },
        { status: 405, headers: { Allow: 'GET, HEAD', 'X-Request-Id': id } },
      )
    }
    const dashboard = await getDashboard()
    const name = /\/app\/assets\/([^/?#]*)/.exec(request.url)?.[1]
    if (name !== undefined) return await sendFile(request, await findFile(dashboard, name, needs.builtFiles))
    const { workspacePages, centeredPage } = await getPages(dashboard, request.headers, needs)
    const path = request.url.replace(/[?#].*/s, '')
    const page = isWorkspacePage(request)
      ? workspacePages.find((each) => each.path.test(path))?.html
      : centeredPage
    return new Response(page, {
      headers: { ...PAGE_HEADERS, ...toReferrerPolicy(request.url), 'X-Request-Id': id },
    })
  } catch (error) {
    return toErrorResponse(error, id)
  }
}

/**
 * A guess is enough, because only the first paint depends on it: without a cookie, people are redirected to sign-in.
 * Addresses of a workspace begin with its id, or redirect there.
 */
const isWorkspacePage = ({ url, headers }: Request) =>
  /\/app\/?(?:new)?(?:[?#]|$)|\/app\/\d+(?:[/?#]|$)/.test(url) &&
  (headers.get('cookie') ?? '').includes('towpath_session=')

const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  // The names of the files change with every version, so the page that names them must be the newest.
  'Cache-Control': 'no-cache',
  Vary: 'Accept-Language, Cookie',
}

/**
 * The browser would send the page's address as the referrer when it loads files. An address with a token must not be
 * sent.
 */
const toReferrerPolicy = (url: string) => (/[?&]token=/.test(url) ? { 'Referrer-Policy': 'no-referrer' } : {})

const sendFile = (request: Request, file: StaticFile) =>
  sendStaticFile(request, file, { 'Cache-Control': 'public, max-age=31536000, immutable' })

/** @throws Failure `not_found`: a page from before an upgrade may ask for a file that is gone */
async function findFile(
  { directory, manifest }: Dashboard,
  name: string,
  builtFiles: BuiltFileStore | undefined,
): Promise<StaticFile> {
  const kind = FILE.exec(name)?.[1] as keyof typeof TYPES | undefined
  if (!kind) throw notFound('')
  const type = TYPES[kind]
  const isCompressed = kind === 'woff2'
  for (const place of ['', ...manifest.languages]) {
    const content = Bun.file(join(directory, place, name))
    const gzip = isCompressed ? undefined : Bun.file(join(directory, place, `${name}.gz`))
    if (await content.exists()) return { type, content, gzip }
  }
  const kept = HASHED.test(name) ? await builtFiles?.find('dashboard', name) : undefined
  if (!kept) throw notFound('')
  return { type, content: kept.content, gzip: isCompressed ? undefined : kept.gzip }
}

/** @returns the directory that the program has printed */
async function runBuild(file: string, ...words: string[]): Promise<string> {
  const child = Bun.spawn([process.execPath, file, ...words], { stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) === 0) return output.trim()
  log.error('dashboard_not_built', { reason: errors.slice(0, 4096) })
  throw unavailable(new Error('the dashboard could not be bundled'), 10)
}

const readManifest = async <T>(directory: string) =>
  (await Bun.file(join(directory, 'built.json')).json()) as T

async function openBuild({ build, builtFiles }: BuildNeeds): Promise<Dashboard> {
  const directory = await runBuild(build)
  const manifest = await readManifest<BuildManifest>(directory)
  const english = await openPages(manifest, directory, 'en', builtFiles)
  return { directory, manifest, pages: new Map([['en', Promise.resolve(english)]]) }
}

/** Bundles the language of the request if nobody has asked for it before. Where that fails, the page is in English. */
function getPages(
  { directory, manifest, pages }: Dashboard,
  headers: Headers,
  needs: BuildNeeds,
): Promise<Pages> {
  const language = choosePageLanguage(headers, manifest.languages)
  const open = async () => {
    const own = join(directory, language)
    if (!(await Bun.file(join(own, 'built.json')).exists()))
      await runBuild(needs.build, `--language=${language}`)
    return openPages({ ...manifest, ...(await readManifest<object>(own)) }, own, language, needs.builtFiles)
  }
  const english = pages.get('en') as Promise<Pages>
  const found = pages.get(language) ?? open().catch(() => english)
  pages.set(language, found)
  return found
}

async function openPages(
  manifest: BuildManifest,
  directory: string,
  language: string,
  builtFiles: BuiltFileStore | undefined,
): Promise<Pages> {
  await keepFiles(directory, builtFiles)
  const render = async (frame: string, chunks: string[] = []) =>
    (await renderPage({ ...manifest, preload: [...manifest.preload, ...chunks] }, frame, language)).toString()
  const pages = Object.entries(manifest.pages).map(async ([route, chunks]) => ({
    path: toPathPattern(route),
    html: await render(manifest.workspaceFrame, chunks),
  }))
  return {
    workspacePages: [
      ...(await Promise.all(pages)),
      { path: /(?:)/, html: await render(manifest.workspaceFrame) },
    ],
    centeredPage: await render(manifest.centeredFrame),
  }
}

/** The addresses of a route such as `links/$linkId`. The home page leads to the links. */
const toPathPattern = (route: string) =>
  new RegExp(`/app(?:/\\d+/${route.replace(/\$\w+/g, '[^/]+')}${route === 'links' ? '|/new|' : ''})/?$`)

/** Runs before a page names the files, because the browser's next request may reach a server of another release. */
async function keepFiles(directory: string, builtFiles: BuiltFileStore | undefined): Promise<void> {
  if (!builtFiles) return
  const names = (await readdir(directory)).filter((name) => HASHED.test(name))
  const read = async (name: string) => ({
    name,
    gzip: name.endsWith('.woff2')
      ? Bun.gzipSync(await Bun.file(join(directory, name)).bytes())
      : await Bun.file(join(directory, `${name}.gz`)).bytes(),
  })
  try {
    await builtFiles.keep('dashboard', await Promise.all(names.map(read)))
  } catch (error) {
    // This server still serves them.
    log.warn('built_files_not_kept', { kind: 'dashboard', ...describeError(error) })
  }
}

// The paths are absolute, because the same page answers every address below /app. A script after a style sheet would wait for
// it, and over HTTP/1.1 six files are loaded at a time, in this order.
const renderPage = (
  { script, boot, style, font, preload, languages }: BuildManifest,
  frame: string,
  language: string,
) => html`<!doctype html>
<html lang="${language}" dir="${toDirection(language)}" data-languages="${['en', ...languages].join(' ')}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Towpath</title>
<link rel="icon" href="${ICON}">
<script src="/app/assets/${boot}"></script>
<link rel="stylesheet" href="/app/assets/${style}">
<link rel="preload" href="/app/assets/${font}" as="font" type="font/woff2" crossorigin>
<script type="module" src="/app/assets/${script}"></script>
${raw(preload.map((name) => `<link rel="modulepreload" href="/app/assets/${name}" fetchpriority="low">`).join('\n'))}
</head>
<body><div id="root"></div><div id="frame">${raw(frame)}</div>
<noscript>The dashboard needs JavaScript. Links, forms and the API work without it.</noscript></body>
</html>
`

const toDirection = (language: string) => new Intl.Locale(language).getTextInfo().direction

/** The logo: two river banks and the path between them. */
const ICON =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#17624a"/>' +
      '<path d="M9 25c0-9 14-9 14-18" fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round"/>' +
      '<circle cx="23" cy="7" r="3.5" fill="#fff"/><circle cx="9" cy="25" r="3.5" fill="#fff"/></svg>',
  )

// The snippet's files: built from snippet/ when somebody first asks, without a step before the start. /t.js is always
// the newest; each version also has a name that never means anything else, which pages can pin by its hash.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toErrorResponse } from '../../http/error-response.ts'
import { requestId } from '../../http/request-id.ts'
import { describeError, log } from '../../lib/log.ts'

export interface SnippetNeeds {
  /** Our own origin: forms may name it although the script comes by way of a proxy. */
  origin: string
  /** First segment of the intake, `e` unless it was renamed. */
  intakePath: string
  /** Where versions are kept: a page that pinned one wants it after the next upgrade too. */
  dataDir: string
}

interface File {
  name: string
  text: string
  gzip: Uint8Array<ArrayBuffer>
  integrity: string
}

const SOURCE = join(import.meta.dir, '../../../snippet')
const VERSIONED_NAME = /^(?:t|captcha)-[0-9a-f]{16}\.js$/

/** Long enough for the pages of one visit. What must be the same on every page is asked for by name. */
const LATEST_MAX_AGE_SECONDS = 600

export function createSnippet(needs: SnippetNeeds) {
  const dir = join(needs.dataDir, 'snippet')
  let built: Promise<{ track: File; captcha: File }> | undefined

  function newest() {
    built ??= build(needs)
      .then((files) => {
        for (const file of Object.values(files)) saveVersion(dir, file)
        return files
      })
      .catch((error) => {
        built = undefined
        throw error
      })
    return built
  }

  async function find(name: string): Promise<File | undefined> {
    const { track, captcha } = await newest()
    return (
      [track, captcha].find((file) => file.name === name) ??
      (VERSIONED_NAME.test(name) ? readVersion(dir, name) : undefined)
    )
  }

  const guarded = (answer: (request: Request) => Promise<Response>) => async (request: Request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return Response.json({ error: 'Method not allowed' }, { status: 405, headers: { Allow: 'GET, HEAD' } })
    }
    try {
      return await answer(request)
    } catch (error) {
      return toErrorResponse(error, requestId(request.headers.get('x-request-id')))
    }
  }

  return {
    /** `/t.js`. Its `Link` header has the name and hash of this version. */
    moving: guarded(async (request) => {
      const { track } = await newest()
      const pinned = `<${needs.origin}/${needs.intakePath}/${track.name}>; rel="alternate"; integrity="${track.integrity}"`
      return sendFile(request, track, `public, max-age=${LATEST_MAX_AGE_SECONDS}`, { Link: pinned })
    }),
    /** `/e/{name}`. */
    named: guarded(async (request) => {
      const file = await find(readName(request.url))
      if (!file) return Response.json({ error: 'Not found' }, { status: 404, headers: { ...OPEN_HEADERS } })
      return sendFile(request, file, 'public, max-age=31536000, immutable')
    }),
  }
}

/** By hand, because a broken Host header makes a URL that no parser takes. */
const readName = (url: string) => /([^/]*)$/.exec(url.replace(/[?#].*/, ''))?.[1] ?? ''

/** A pinned script is fetched by CORS; a page that isolates itself takes only what says it may be taken. */
const OPEN_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
}

function sendFile(request: Request, file: File, cacheControl: string, more: Record<string, string> = {}) {
  const etag = `W/"${file.name}"`
  const headers = {
    ...OPEN_HEADERS,
    'Cache-Control': cacheControl,
    ETag: etag,
    Vary: 'Accept-Encoding',
    ...more,
  }
  const known = request.headers.get('if-none-match')?.split(',') ?? []
  if (known.some((tag) => tag.trim().replace(/^(W\/)?/, 'W/') === etag || tag.trim() === '*')) {
    return new Response(null, { status: 304, headers })
  }
  const zipped = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(
    request.headers.get('accept-encoding') ?? '',
  )
  const body = zipped ? file.gzip : new TextEncoder().encode(file.text)
  return new Response(request.method === 'HEAD' ? null : body, {
    headers: {
      ...headers,
      'Content-Type': 'text/javascript; charset=utf-8',
      'Content-Length': String(body.length),
      ...(zipped ? { 'Content-Encoding': 'gzip' } : {}),
    },
  })
}

async function build({ origin, intakePath }: SnippetNeeds) {
  const captcha = toFile('captcha', await bundle('captcha.ts', {}))
  const written = {
    ORIGIN: origin,
    INTAKE: intakePath,
    CAPTCHA: captcha.name,
    CAPTCHA_INTEGRITY: captcha.integrity,
  }
  return { captcha, track: toFile('t', await bundle('track.ts', written)) }
}

async function bundle(entry: string, written: Record<string, string>): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(SOURCE, entry)],
    target: 'browser',
    format: 'iife',
    minify: true,
    define: Object.fromEntries(Object.entries(written).map(([name, text]) => [name, JSON.stringify(text)])),
  })
  const text = await outputs[0]?.text()
  if (!text) throw new Error(`nothing was built from ${entry}`)
  return text
}

function toFile(kind: string, text: string): File {
  const sha = createHash('sha256').update(text)
  const name = `${kind}-${sha.copy().digest('hex').slice(0, 16)}.js`
  return { name, text, gzip: Bun.gzipSync(text, { level: 9 }), integrity: `sha256-${sha.digest('base64')}` }
}

function saveVersion(dir: string, { name, text }: File) {
  const path = join(dir, name)
  try {
    if (existsSync(path)) return
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    writeFileSync(`${path}.part`, text)
    renameSync(`${path}.part`, path)
  } catch (error) {
    // It is served all the same, as long as this version runs.
    log.warn('snippet_not_kept', { name, ...describeError(error) })
  }
}

/** A version of before; not what a damaged disk made of it. */
function readVersion(dir: string, name: string): File | undefined {
  const path = join(dir, name)
  if (!existsSync(path)) return undefined
  const file = toFile(name.replace(/-.*/, ''), readFileSync(path, 'utf8'))
  return file.name === name ? file : undefined
}

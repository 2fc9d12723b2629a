// Serves the snippet's files. The first request builds them, so that the start needs no build step. /t.js is always the
// newest version. Each version also has a name with its hash, so that a page can pin it. Servers on one PostgreSQL find
// the versions of each other in rows.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toErrorResponse } from '../../http/error-response.ts'
import { requestId } from '../../http/request-id.ts'
import { sendStaticFile } from '../../http/static-file.ts'
import { describeError, log } from '../../lib/log.ts'
import type { BuiltFileStore } from '../../storage/built-file-store.ts'

export interface SnippetNeeds extends SnippetSettings {
  /** Versions are kept there: a page that has pinned one needs it after an upgrade too. */
  dataDir: string
  /** Where servers on one database find the versions of other releases. */
  builtFiles?: BuiltFileStore
}

const VERSIONED_NAME = /^(?:t|captcha|uploads)-[0-9a-f]{16}\.js$/

/** The pages of one visit load the script once. A page that needs one exact version asks for it by its name. */
const LATEST_MAX_AGE_SECONDS = 600

export function createSnippet(needs: SnippetNeeds) {
  const dir = join(needs.dataDir, 'snippet')
  const getLatest = createBuildOnce(needs, dir)

  async function findVersion(name: string): Promise<SnippetFile | undefined> {
    const own = Object.values(await getLatest()).find((file) => file.name === name)
    if (own || !VERSIONED_NAME.test(name)) return own
    return readVersion(dir, name) ?? findKeptVersion(needs.builtFiles, name)
  }

  return {
    /** Builds the files, which the first request would do otherwise. */
    prepare: async () => void (await getLatest()),
    /** `/t.js`. Its `Link` header has the name and hash of this version. */
    latest: toHandler(async (request) => {
      const { track } = await getLatest()
      const url = `${needs.origin}/${needs.intakePath}/${track.name}`
      return sendScript(request, track, {
        'Cache-Control': `public, max-age=${LATEST_MAX_AGE_SECONDS}`,
        Link: `<${url}>; rel="alternate"; integrity="${track.integrity}"`,
      })
    }),
    /** `/e/{name}`. */
    versioned: toHandler(async (request) => {
      const file = await findVersion(readName(request.url))
      if (!file) return Response.json({ error: 'Not found' }, { status: 404, headers: NOT_FOUND_HEADERS })
      return sendScript(request, file, { 'Cache-Control': 'public, max-age=31536000, immutable' })
    }),
  }
}

interface SnippetFile {
  /** Such as `t-0123456789abcdef.js`: the hash is of the text. */
  name: string
  text: string
  gzip: Uint8Array<ArrayBuffer>
  /** For the `integrity` attribute of a script element. */
  integrity: string
}

interface SnippetSettings {
  /** The origin of this server. The snippet needs it when a proxy serves the script from another origin. */
  origin: string
  /** The first segment of the intake's path: `e`, unless the operator has changed it. */
  intakePath: string
}

const SOURCE = join(import.meta.dir, '../../../snippet')

/** Builds the snippet's files from snippet/, for browsers and with the settings of this server inside. */
async function buildSnippet({ origin, intakePath }: SnippetSettings) {
  const captcha = toSnippetFile('captcha', await bundle('captcha-script.ts', {}))
  const uploads = toSnippetFile('uploads', await bundle('uploads-script.ts', {}))
  const constants = {
    ORIGIN: origin,
    INTAKE: intakePath,
    PARTS: {
      captcha: [captcha.name, captcha.integrity],
      uploads: [uploads.name, uploads.integrity],
    },
  }
  return { captcha, uploads, track: toSnippetFile('t', await bundle('track.ts', constants)) }
}

/** @param constants names in the source, each replaced by its value */
async function bundle(entry: string, constants: Record<string, unknown>): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(SOURCE, entry)],
    target: 'browser',
    format: 'iife',
    minify: true,
    define: Object.fromEntries(
      Object.entries(constants).map(([name, value]) => [name, JSON.stringify(value)]),
    ),
  })
  const text = await outputs[0]?.text()
  if (!text) throw new Error(`the build of ${entry} has no output`)
  return text
}

/** @param kind `t`, `captcha` or `uploads` */
function toSnippetFile(kind: string, text: string): SnippetFile {
  const hash = createHash('sha256').update(text)
  const name = `${kind}-${hash.copy().digest('hex').slice(0, 16)}.js`
  return {
    name,
    text,
    gzip: Bun.gzipSync(text, { level: 12, library: 'libdeflate' }),
    integrity: `sha256-${hash.digest('base64')}`,
  }
}

/** @returns a function that builds the files once, and again after a build that failed */
function createBuildOnce(needs: SnippetNeeds, dir: string) {
  let build: ReturnType<typeof buildSnippet> | undefined
  return () => {
    build ??= buildSnippet(needs)
      .then(async (files) => {
        for (const file of Object.values(files)) saveVersion(dir, file)
        await keepVersions(needs.builtFiles, Object.values(files))
        return files
      })
      .catch((error) => {
        build = undefined
        throw error
      })
    return build
  }
}

const toHandler = (answer: (request: Request) => Promise<Response>) => async (request: Request) => {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return Response.json({ error: 'Method not allowed' }, { status: 405, headers: { Allow: 'GET, HEAD' } })
  }
  try {
    return await answer(request)
  } catch (error) {
    return toErrorResponse(error, requestId(request.headers.get('x-request-id')))
  }
}

/** Reads the name without a URL parser, which would fail on a broken Host header. */
const readName = (url: string) =>
  url
    .replace(/[?#].*/, '')
    .split('/')
    .at(-1) ?? ''

/** A browser fetches a pinned script with CORS; an isolated page (COEP) requires Cross-Origin-Resource-Policy. */
const CROSS_ORIGIN_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
}
const NOT_FOUND_HEADERS = { ...CROSS_ORIGIN_HEADERS, 'X-Content-Type-Options': 'nosniff' }

function sendScript(request: Request, { name, text, gzip }: SnippetFile, headers: Record<string, string>) {
  const content = new TextEncoder().encode(text)
  const file = { type: 'text/javascript; charset=utf-8', content, gzip, etag: `W/"${name}"` }
  return sendStaticFile(request, file, { ...CROSS_ORIGIN_HEADERS, ...headers })
}

function saveVersion(dir: string, { name, text }: SnippetFile) {
  const path = join(dir, name)
  try {
    if (existsSync(path)) return
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    writeFileSync(`${path}.part`, text)
    renameSync(`${path}.part`, path)
  } catch (error) {
    // The file is served all the same, as long as this version runs.
    log.warn('snippet_not_kept', { name, ...describeError(error) })
  }
}

/** Before a page can name them: the visitor's next request may reach a server of another release. */
async function keepVersions(builtFiles: BuiltFileStore | undefined, files: SnippetFile[]) {
  try {
    await builtFiles?.keep('snippet', files)
  } catch (error) {
    // This server serves them all the same.
    log.warn('built_files_not_kept', { kind: 'snippet', ...describeError(error) })
  }
}

/** Finds a version of another release; undefined where the row is not what its name says. */
async function findKeptVersion(builtFiles: BuiltFileStore | undefined, name: string) {
  const kept = await builtFiles?.find('snippet', name)
  const file = kept && toSnippetFile(toKind(name), new TextDecoder().decode(kept.content))
  return file?.name === name ? file : undefined
}

const toKind = (name: string) => name.replace(/-.*/, '')

/** Reads a version of an earlier release; undefined where the disk has damaged the file. */
function readVersion(dir: string, name: string): SnippetFile | undefined {
  const path = join(dir, name)
  if (!existsSync(path)) return undefined
  const file = toSnippetFile(toKind(name), readFileSync(path, 'utf8'))
  return file.name === name ? file : undefined
}

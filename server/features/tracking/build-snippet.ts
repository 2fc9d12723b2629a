// Builds the snippet's files from snippet/, for browsers and with the settings of this server inside.

import { createHash } from 'node:crypto'
import { join } from 'node:path'

export interface SnippetFile {
  /** Such as `t-0123456789abcdef.js`: the hash is of the text. */
  name: string
  text: string
  gzip: Uint8Array<ArrayBuffer>
  /** For the `integrity` attribute of a script element. */
  integrity: string
}

export interface SnippetSettings {
  /** The origin of this server. The snippet needs it when a proxy serves the script from another origin. */
  origin: string
  /** The first segment of the intake's path: `e`, unless the operator has changed it. */
  intakePath: string
}

const SOURCE = join(import.meta.dir, '../../../snippet')

export async function buildSnippet({ origin, intakePath }: SnippetSettings) {
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
export function toSnippetFile(kind: string, text: string): SnippetFile {
  const hash = createHash('sha256').update(text)
  const name = `${kind}-${hash.copy().digest('hex').slice(0, 16)}.js`
  return {
    name,
    text,
    gzip: Bun.gzipSync(text, { level: 12, library: 'libdeflate' }),
    integrity: `sha256-${hash.digest('base64')}`,
  }
}

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
  const captcha = toSnippetFile('captcha', await bundle('captcha.ts', {}))
  const constants = {
    ORIGIN: origin,
    INTAKE: intakePath,
    CAPTCHA: captcha.name,
    CAPTCHA_INTEGRITY: captcha.integrity,
  }
  return { captcha, track: toSnippetFile('t', await bundle('track.ts', constants)) }
}

/** @param constants names in the source, each replaced by its text */
async function bundle(entry: string, constants: Record<string, string>): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(SOURCE, entry)],
    target: 'browser',
    format: 'iife',
    minify: true,
    define: Object.fromEntries(Object.entries(constants).map(([name, text]) => [name, JSON.stringify(text)])),
  })
  const text = await outputs[0]?.text()
  if (!text) throw new Error(`the build of ${entry} has no output`)
  return text
}

/** @param kind `t` or `captcha` */
export function toSnippetFile(kind: string, text: string): SnippetFile {
  const hash = createHash('sha256').update(text)
  const name = `${kind}-${hash.copy().digest('hex').slice(0, 16)}.js`
  return { name, text, gzip: Bun.gzipSync(text, { level: 9 }), integrity: `sha256-${hash.digest('base64')}` }
}

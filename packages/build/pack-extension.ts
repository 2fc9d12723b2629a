// Builds the browser extension and packs it into a zip, the same file for Chromium and Firefox: `npm run build:extension`.

import { cpSync, createWriteStream, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { ZipFile } from 'yazl'
import root from '../../package.json'

const SOURCE = join(import.meta.dir, '../extension')
const COPIED = /\.(?:html|css|png)$/
/** The same sources make the same zip. */
const MTIME = new Date('2000-01-01T00:00:00Z')

/** Writes the files of the extension, as a browser loads them unpacked. */
export async function buildExtension(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true })
  const { outputs } = await Bun.build({
    entrypoints: ['popup.ts', 'settings.ts'].map((name) => join(SOURCE, name)),
    outdir: directory,
    target: 'browser',
    format: 'esm',
  })
  if (outputs.length !== 2) throw new Error(`the build has ${outputs.length} files, not two`)
  for (const name of readdirSync(SOURCE).filter((each) => COPIED.test(each)))
    cpSync(join(SOURCE, name), join(directory, name))
  cpSync(join(SOURCE, '../../LICENSE'), join(directory, 'LICENSE'))
  const manifest = await Bun.file(join(SOURCE, 'manifest.json')).json()
  const version = root.version.replace(/-.*$/, '')
  await Bun.write(join(directory, 'manifest.json'), JSON.stringify({ ...manifest, version }, null, 2))
}

/** @returns the path of the zip */
export async function packExtension(outDir: string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'towpath-extension-'))
  try {
    await buildExtension(directory)
    mkdirSync(outDir, { recursive: true })
    const path = join(outDir, `towpath-extension-${root.version}.zip`)
    const zip = new ZipFile()
    for (const name of readdirSync(directory).sort())
      zip.addFile(join(directory, name), name, { mtime: MTIME, mode: 0o100644 })
    zip.end()
    await pipeline(zip.outputStream, createWriteStream(path))
    return path
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const { positionals } = parseArgs({ allowPositionals: true })
  const path = await packExtension(positionals[0] ?? join(SOURCE, '../dist'))
  process.stdout.write(`${path}\n`)
}

// Builds the npm packages and packs each into a tarball: `npm run build:packages`. The sources are those of the
// snippet; @towpath/sdk is generated from the API's document.

import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import root from '../package.json'
import { generateClient } from './build/generate-client.ts'
import { readDocument } from './build/read-document.ts'

const HERE = import.meta.dir
const ROOT = join(HERE, '..')
const NAMES = ['snippet', 'react', 'sdk'] as const

/** @returns the tarball of each package */
export async function buildPackages(outDir: string): Promise<Record<(typeof NAMES)[number], string>> {
  mkdirSync(outDir, { recursive: true })
  const work = mkdtempSync(join(tmpdir(), 'towpath-packages-'))
  try {
    const types = join(work, 'types')
    run(['tsc', '-p', join(HERE, 'tsconfig.types.json'), '--outDir', types])
    writeSdk(generateClient(await readDocument()), work, join(types, 'packages/sdk'))
    const packed = await Promise.all(
      NAMES.map(async (name) => [name, await pack(name, work, outDir)] as const),
    )
    return Object.fromEntries(packed) as Awaited<ReturnType<typeof buildPackages>>
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** The source of @towpath/sdk, and its types. */
function writeSdk(source: string, work: string, types: string): void {
  const file = join(work, 'index.ts')
  writeFileSync(file, source)
  const options = ['--declaration', '--emitDeclarationOnly', '--strict', '--ignoreConfig']
  const libraries = ['--target', 'esnext', '--lib', 'esnext,dom,dom.iterable']
  run(['tsc', file, ...options, ...libraries, '--types', '', '--outDir', types])
}

async function pack(name: string, work: string, outDir: string): Promise<string> {
  const folder = join(work, name)
  const { outputs } = await Bun.build({
    entrypoints: [name === 'sdk' ? join(work, 'index.ts') : join(HERE, name, 'index.ts')],
    outdir: join(folder, 'dist'),
    target: 'browser',
    format: 'esm',
    minify: { syntax: true, whitespace: true, identifiers: false },
    packages: 'external',
    // Frameworks with server components read it from the first line.
    banner: name === 'react' ? "'use client'" : '',
  })
  if (outputs.length !== 1) throw new Error(`the build of ${name} has ${outputs.length} files, not one`)
  cpSync(join(work, 'types/packages', name, 'index.d.ts'), join(folder, 'dist/index.d.ts'))
  cpSync(join(HERE, name, 'README.md'), join(folder, 'README.md'))
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  const manifest = await Bun.file(join(HERE, name, 'package.json')).json()
  await Bun.write(
    join(folder, 'package.json'),
    JSON.stringify({ ...manifest, version: root.version }, null, 2),
  )
  const [tarball] = JSON.parse(
    run(['npm', 'pack', '--json', '--silent', '--pack-destination', outDir, folder]),
  )
  return join(outDir, tarball.filename)
}

function run(command: string[]): string {
  const path = `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`
  const { success, stdout, stderr } = Bun.spawnSync(command, {
    cwd: ROOT,
    env: { ...process.env, PATH: path },
  })
  if (!success) throw new Error(`${command.join(' ')} failed: ${stdout}${stderr}`)
  return stdout.toString()
}

if (import.meta.main) {
  const { positionals } = parseArgs({ allowPositionals: true })
  const built = await buildPackages(positionals[0] ?? join(HERE, 'dist'))
  process.stdout.write(`${Object.values(built).join('\n')}\n`)
}

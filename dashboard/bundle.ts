// Bundles the dashboard into a directory: scripts, styles, their gzip files, and built.json, which names them.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Scanner } from '@tailwindcss/oxide'
import { createElement, type FunctionComponent } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { compile } from 'tailwindcss'
import { isDevelopment } from './build-directory.ts'
import { CenteredFrame, WorkspaceFrame } from './shell/loading-frame.tsx'

const HERE = import.meta.dir

/** The names of the bundled files that the HTML page refers to; written to built.json. */
export interface BuildManifest {
  script: string
  /** Runs before the first paint. */
  boot: string
  style: string
  /** Chunks that the script imports statically, for `modulepreload`. */
  preload: string[]
  /** HTML that is shown until the script is there: for pages of a workspace, and for all others. */
  workspaceFrame: string
  centeredFrame: string
}

async function buildStyles(): Promise<string> {
  const entry = join(HERE, 'app.css')
  const compiler = await compile(readFileSync(entry, 'utf8'), {
    base: HERE,
    async loadStylesheet(id, base) {
      const path = Bun.resolveSync(id === 'tailwindcss' ? 'tailwindcss/index.css' : id, base)
      return { path, base: join(path, '..'), content: readFileSync(path, 'utf8') }
    },
  })
  const scanner = new Scanner({ sources: [{ base: HERE, pattern: '**/*.tsx', negated: false }] })
  return compiler.build(scanner.scan())
}

/** Others see the directory once it is complete. */
export async function bundleDashboard(directory: string): Promise<void> {
  const draft = `${directory}.${process.pid}`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true })
  writeFileSync(join(draft, 'app.css'), await buildStyles())
  const { outputs } = await Bun.build({
    entrypoints: [join(HERE, 'main.tsx'), join(draft, 'app.css')],
    outdir: draft,
    target: 'browser',
    splitting: true,
    minify: !isDevelopment,
    sourcemap: isDevelopment ? 'inline' : 'none',
    naming: { entry: '[name]-[hash].[ext]', chunk: 'chunk-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    define: { 'process.env.NODE_ENV': isDevelopment ? '"development"' : '"production"' },
  })
  rmSync(join(draft, 'app.css'))
  outputs.push(...(await buildBoot(draft)))
  const findOutput = (pattern: RegExp) => {
    const name = outputs.map(({ path }) => relative(draft, path)).find((path) => pattern.test(path))
    if (!name) throw new Error(`nothing was built for ${pattern}`)
    return name
  }
  for (const { path } of outputs) {
    writeFileSync(`${path}.gz`, Bun.gzipSync(readFileSync(path), { level: 12, library: 'libdeflate' }))
  }
  const script = findOutput(/^main-.*\.js$/)
  const manifest: BuildManifest = {
    script,
    boot: findOutput(/^boot-.*\.js$/),
    style: findOutput(/\.css$/),
    preload: listStaticImports(join(draft, script)),
    workspaceFrame: renderFrame(WorkspaceFrame),
    centeredFrame: renderFrame(CenteredFrame),
  }
  writeFileSync(join(draft, 'built.json'), JSON.stringify(manifest))
  try {
    renameSync(draft, directory)
  } catch {
    // Another process finished first, with the same result.
    rmSync(draft, { recursive: true, force: true })
  }
}

/** A classic script of its own: as a module, it would run after the first paint. */
async function buildBoot(outdir: string) {
  const { outputs } = await Bun.build({
    entrypoints: [join(HERE, 'boot.ts')],
    outdir,
    target: 'browser',
    format: 'iife',
    minify: !isDevelopment,
    naming: '[name]-[hash].[ext]',
  })
  return outputs
}

const renderFrame = (frame: FunctionComponent) => renderToStaticMarkup(createElement(frame))

const listStaticImports = (path: string) =>
  [...new Bun.Transpiler({ loader: 'js' }).scanImports(readFileSync(path, 'utf8'))]
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => path.replace(/^\.\//, ''))

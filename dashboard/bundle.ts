// Bundles the dashboard into a directory: scripts, styles, their gzip files, fonts, and built.json, which names them.

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Scanner } from '@tailwindcss/oxide'
import type { BunPlugin } from 'bun'
import { compile } from 'tailwindcss'
import { isDevelopment } from './build-directory.ts'
import { bundleAreas } from './bundle-areas.ts'
import { bundleTexts } from './bundle-texts.ts'
import { renderFrames } from './render-frames.ts'
import { listLanguages } from './texts/catalogs.ts'

const HERE = import.meta.dir

/** The names of the bundled files that the HTML page refers to; written to built.json. */
export interface BuildManifest {
  script: string
  /** Runs before the first paint. */
  boot: string
  style: string
  /** The Latin characters, for `preload`: every page has them. */
  font: string
  /** Chunks that the script imports statically, for `modulepreload`. */
  preload: string[]
  /** The chunks of each page of a workspace, by the path of its route, such as `links/$linkId`. */
  pages: Record<string, string[]>
  /** HTML that is shown until the script is there: for pages of a workspace, and for all others. */
  workspaceFrame: string
  centeredFrame: string
  /** The languages besides English. A bundled language has its own directory. */
  languages: string[]
}

/** The files that are others in each language. */
type LanguageManifest = Pick<
  BuildManifest,
  'script' | 'preload' | 'pages' | 'workspaceFrame' | 'centeredFrame'
>

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

/**
 * Writes the fonts into a directory, with a hash of the content in each name.
 * @returns the names, and the style rules that name them
 */
function buildFonts(directory: string) {
  const names: string[] = []
  const copyFonts = (styles: string, change: (text: string) => string = (text) => text) =>
    change(readFileSync(styles, 'utf8')).replace(/url\(([^)]*)\) format\([^)]*\)/g, (_, path: string) => {
      const content = readFileSync(join(styles, '..', path))
      const hash = createHash('sha256').update(content).digest('hex').slice(0, 8)
      const name = `${basename(path, '.woff2')}-${hash}.woff2`
      writeFileSync(join(directory, name), content)
      names.push(name)
      return `url(./${name})`
    })
  const rules =
    copyFonts(join(HERE, 'ui/fonts/fonts.css')) +
    copyFonts(Bun.resolveSync('@fontsource-variable/inter', HERE), (text) =>
      text.replace(/\/\* inter-latin-wght-normal \*\/[^}]*}/, ''),
    )
  return { names, rules }
}

/** Others see the directory once it is complete. */
async function complete(directory: string, write: (draft: string) => Promise<object>): Promise<void> {
  const draft = `${directory}.${process.pid}`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true })
  const manifest = await write(draft)
  writeFileSync(join(draft, 'built.json'), JSON.stringify(manifest))
  try {
    renameSync(draft, directory)
  } catch {
    // Another process finished first, with the same result.
    rmSync(draft, { recursive: true, force: true })
  }
}

/** In English. */
export const bundleDashboard = (directory: string) =>
  complete(directory, async (draft): Promise<BuildManifest> => {
    const fonts = buildFonts(draft)
    const styles = join(draft, 'app.css')
    writeFileSync(styles, fonts.rules + (await buildStyles()))
    const outputs = await bundle(draft, [join(HERE, 'main.tsx'), styles], [bundleAreas])
    rmSync(styles)
    outputs.push(...(await buildBoot(draft)))
    compress(outputs)
    return {
      ...describeScripts(draft, outputs),
      boot: findOutput(outputs, /^boot-.*\.js$/),
      style: findOutput(outputs, /\.css$/),
      font: fonts.names[0] as string,
      ...renderFrames(),
      languages: listLanguages(),
    }
  })

/** The scripts again, with the texts of a language. Styles and fonts are the same in all. */
export const bundleLanguage = (directory: string, language: string) =>
  complete(join(directory, language), async (draft): Promise<LanguageManifest> => {
    const outputs = await bundle(draft, [join(HERE, 'main.tsx')], [bundleTexts(language), bundleAreas])
    compress(outputs)
    return { ...describeScripts(draft, outputs), ...(await renderTranslatedFrames(draft, language)) }
  })

/** Bundled separately: an import would use the texts of the sources. */
async function renderTranslatedFrames(
  draft: string,
  language: string,
): Promise<ReturnType<typeof renderFrames>> {
  const { outputs } = await Bun.build({
    entrypoints: [join(HERE, 'render-frames.ts')],
    outdir: draft,
    target: 'bun',
    plugins: [bundleTexts(language)],
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const path = outputs[0]?.path as string
  const frames = (await import(path)) as typeof import('./render-frames.ts')
  rmSync(path)
  return frames.renderFrames()
}

async function bundle(outdir: string, entrypoints: string[], plugins: BunPlugin[]) {
  const { outputs } = await Bun.build({
    entrypoints,
    outdir,
    target: 'browser',
    splitting: true,
    external: ['*.woff2'],
    plugins,
    minify: !isDevelopment,
    sourcemap: isDevelopment ? 'inline' : 'none',
    naming: { entry: '[name]-[hash].[ext]', chunk: 'chunk-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    define: { 'process.env.NODE_ENV': isDevelopment ? '"development"' : '"production"' },
  })
  return outputs
}

type Outputs = Awaited<ReturnType<typeof bundle>>

function compress(outputs: Outputs) {
  for (const { path } of outputs) {
    writeFileSync(`${path}.gz`, Bun.gzipSync(readFileSync(path), { level: 12, library: 'libdeflate' }))
  }
}

function findOutput(outputs: Outputs, pattern: RegExp): string {
  const name = outputs.map(({ path }) => basename(path)).find((each) => pattern.test(each))
  if (!name) throw new Error(`nothing was built for ${pattern}`)
  return name
}

function describeScripts(draft: string, outputs: Outputs) {
  const script = findOutput(outputs, /^main-.*\.js$/)
  return {
    script,
    preload: listStaticImports(draft, script),
    pages: listPageChunks(draft, script),
  }
}

/** A separate classic script: a module would run after the first paint. */
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

/** All chunks that a file imports statically, directly or not. */
function listStaticImports(directory: string, file: string): string[] {
  const found = new Set<string>()
  const add = (name: string) => {
    const content = readFileSync(join(directory, name), 'utf8')
    for (const { kind, path } of new Bun.Transpiler({ loader: 'js' }).scanImports(content)) {
      const chunk = path.replace(/^\.\//, '')
      if (kind !== 'import-statement' || found.has(chunk)) continue
      found.add(chunk)
      add(chunk)
    }
  }
  add(file)
  return [...found]
}

/** A route of routes.tsx as the minifier writes it: its path, the import of its chunk, and the name of its component. */
const PAGE_ROUTE = /\("([^"/][^"]*)",\(\)=>[^"]*(?:"[^"]*"[^"]*)?import\("\.\/(chunk-\w+\.js)"\)+,"\w+Page"/g

function listPageChunks(directory: string, script: string): Record<string, string[]> {
  const [...routes] = readFileSync(join(directory, script), 'utf8').matchAll(PAGE_ROUTE)
  const loaded = new Set([script, ...listStaticImports(directory, script)])
  const listChunks = (chunk: string) =>
    [chunk, ...listStaticImports(directory, chunk)].filter((name) => !loaded.has(name))
  return Object.fromEntries(routes.map(([, path = '', chunk = '']) => [path, listChunks(chunk)]))
}

// Prints the sizes of a checkout as Markdown: files and lines of each folder, the largest folder, the long functions,
// and the exported names with two meanings. `bun tests/support/architecture/print-sizes.ts [path of a checkout]`

import { posix } from 'node:path'
import { listDoubleExports } from './names.ts'
import { ROOT, readCheckout } from './read-checkout.ts'
import { isProduct, isTest, type RepositoryFile } from './rule.ts'
import { FUNCTION_LINES_MAX, listLongFunctions } from './sizes.ts'
import { parseSource, type SourceFile } from './typescript-source.ts'

const countLines = (files: RepositoryFile[]) =>
  files.reduce((sum, { text }) => sum + text.trimEnd().split('\n').length, 0)

/** Product code and tests of a folder. Files in folders below it do not count. */
function formatFolder(folder: string, files: RepositoryFile[]): string {
  const tests = files.filter(({ path }) => isTest(path))
  const others = files.filter(({ path }) => !isTest(path))
  return `| ${folder}/ | ${others.length} | ${countLines(others)} | ${tests.length} | ${countLines(tests)} |`
}

function formatFolders(files: RepositoryFile[]): string[] {
  const folders = [...Map.groupBy(files, ({ path }) => posix.dirname(path))].sort(([a], [b]) =>
    a < b ? -1 : 1,
  )
  const counts = folders.map(([folder, own]) => {
    return { folder, count: own.filter(({ path }) => !isTest(path)).length }
  })
  const largest = counts.toSorted((a, b) => b.count - a.count)[0]
  return [
    '| folder | files | lines | test files | test lines |',
    '|---|--:|--:|--:|--:|',
    ...folders.map(([folder, own]) => formatFolder(folder, own)),
    formatFolder('all', files).replace('all/', '**all**'),
    '',
    `Largest folder: ${largest?.folder}/ with ${largest?.count} files.`,
  ]
}

function formatLongFunctions(sources: SourceFile[]): string[] {
  const long = sources
    .filter(({ path }) => isProduct(path))
    .flatMap((source) => listLongFunctions(source).map((long) => ({ ...long, path: source.path })))
    .sort((a, b) => b.lines - a.lines)
  return [
    `Functions over ${FUNCTION_LINES_MAX} lines, inner functions included: ${long.length}.`,
    ...long.map(({ name, path, lines }) => `- ${lines}: ${name || '(callback)'}, ${path}`),
  ]
}

function formatDoubleExports(sources: SourceFile[]): string[] {
  const double = listDoubleExports(sources).sort((a, b) => b.length - a.length)
  return [
    `Exported names with two meanings (two files of a tree export them): ${double.length}.`,
    ...double.map((exports) => `- ${exports[0]?.name}: ${exports.map(({ file }) => file).join(', ')}`),
  ]
}

const repository = await readCheckout(process.argv[2] ?? ROOT)
const files = repository.filter(({ path }) => /^(server|dashboard|snippet|tests|bench)\/.*\.tsx?$/.test(path))
const sources = files
  .filter(({ path }) => !path.includes('.test.'))
  .map(({ path, text }) => parseSource(path, text))
const page = [formatFolders(files), formatLongFunctions(sources), formatDoubleExports(sources)]
process.stdout.write(`${page.map((lines) => lines.join('\n')).join('\n\n')}\n`)

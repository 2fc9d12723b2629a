// Makes programs of the product's own code that run in a simulated process: one bundle of a file and all that it imports,
// whose globals and imports of the platform come from the simulator. Nothing in `server/` knows of it.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Mutant } from '../../support/rollups/mutate-source.ts'

const ROOT = join(import.meta.dir, '../../..')

/** The names that a program finds in the simulator, and nowhere else. */
const GLOBALS =
  'Date performance setTimeout setImmediate setInterval clearTimeout clearInterval Math process Bun'.split(
    ' ',
  )

export interface ProgramSource {
  /** Relative to the root of the repository, such as `server/main.ts`. */
  entry: string
  /** Replacements for files of `server/`: `platform` is the simulated platform of the process. */
  replacements: Record<string, string>
  /** A line of the product that is changed by hand, to see whether the simulator finds it. */
  mutant?: Mutant
}

/** The platform that a process gives a program. */
export interface Surroundings {
  globals: Record<string, unknown>
  /** By their names without `node:`. All others are the real ones. */
  modules: Record<string, unknown>
  /** For the replacements. */
  platform: unknown
}

/** @returns the program, which answers with what its entry exports */
export async function loadProgram<Exports>(
  source: ProgramSource,
): Promise<(given: Surroundings) => Promise<Exports>> {
  const text = await bundle(source)
  const code = text
    .replace(
      /^import \{([^}]*)\} from "(.*?)";$/gm,
      (_, names: string, module: string) =>
        `const {${names.replaceAll(' as ', ': ')}} = modules("${module}");`,
    )
    .replace(
      /^import (\w+) from "(.*?)";$/gm,
      (_, name: string, module: string) => `const ${name} = modules("${module}", true);`,
    )
    .replace(
      /^export \{([^}]*)\};$/m,
      (_, names: string) => `return {${names.replace(/(\w+) as (\w+)/g, '$2: $1')}};`,
    )
  const AsyncFunction = (async () => {}).constructor as new (
    ...given: string[]
  ) => (...given: unknown[]) => Promise<Exports>
  const run = new AsyncFunction('modules', 'platform', ...GLOBALS, code)
  const require = createRequire(join(ROOT, 'package.json'))
  return ({ globals, modules, platform }) => {
    const find = (name: string, isDefault = false) => {
      const module = modules[name] ?? require(name)
      return isDefault ? (module.default ?? module) : module
    }
    return run(find, platform, ...GLOBALS.map((name) => globals[name]))
  }
}

async function bundle({ entry, replacements, mutant }: ProgramSource): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(ROOT, entry)],
    target: 'bun',
    format: 'esm',
    packages: 'external',
    plugins: [
      {
        name: 'simulator',
        setup(build) {
          build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
            const file = path.slice(ROOT.length + 1)
            let contents = replacements[file] ?? (await Bun.file(path).text())
            if (file === mutant?.file) {
              if (contents.split(mutant.from).length !== 2)
                throw new Error(`${file} does not have once: ${mutant.from}`)
              contents = contents.replace(mutant.from, () => mutant.to)
            }
            return { contents, loader: 'ts' }
          })
        },
      },
    ],
  })
  return (await outputs[0]?.text()) ?? ''
}

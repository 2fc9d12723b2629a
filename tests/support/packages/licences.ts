// Judges the licence of every package in a lockfile: development packages and builds for other machines too. The rule is
// that of CONTRIBUTING.md (MIT, BSD, Apache, ISC, CC0); each exception stands here with its reason.

/** The parts of a lockfile's package (https://docs.npmjs.com/cli/configuring-npm/package-lock-json). */
export interface LockedPackage {
  name?: string
  version?: string
  license?: string
  integrity?: string
  dev?: boolean
  hasInstallScript?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}

export interface Lockfile {
  packages: Record<string, LockedPackage>
}

export interface LicenceException {
  name: string
  licence: string
  /** Whether the exception holds for development only. Such a package must not come into an installation. */
  developmentOnly: boolean
  why: string
}

export interface LicenceReport {
  /** How many packages have each licence. */
  counts: Map<string, number>
  /** A sentence for each package that the rule refuses, and for each exception that nothing needs any more. */
  problems: string[]
}

/** SPDX identifiers (https://spdx.org/licenses/). */
const ALLOWED = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'Apache-2.0',
  'CC0-1.0',
])

/** The lockfile has no licence of the package. */
const NOT_NAMED = 'none'
const OLD_FORM =
  'It is under MIT: its package.json says so in an old form (`licenses`). s3rver, the S3 server of the tests, needs it.'
const IN_README = 'It is under MIT, as its Readme says. s3rver, the S3 server of the tests, needs it.'

export const LICENCE_EXCEPTIONS: LicenceException[] = [
  {
    name: '@fontsource-variable/inter',
    licence: 'OFL-1.1',
    developmentOnly: false,
    why: 'It is a font: the OFL is the usual licence of fonts, and asks that the font is not sold by itself.',
  },
  {
    name: 'isbot',
    licence: 'Unlicense',
    developmentOnly: false,
    why: 'It is in the public domain, as a package under CC0 is.',
  },
  {
    name: 'fast-sha256',
    licence: 'Unlicense',
    developmentOnly: false,
    why: 'It is in the public domain, as a package under CC0 is. standardwebhooks needs it.',
  },
  {
    name: 'argparse',
    licence: 'PSF-2.0',
    developmentOnly: true,
    why: 'It is a port from Python and has the licence of Python, which asks for the notice only.',
  },
  {
    name: 'axe-core',
    licence: 'MPL-2.0',
    developmentOnly: true,
    why: 'The tests inject it unchanged into pages. The server, the dashboard and the snippet have nothing of it.',
  },
  { name: 'busboy', licence: NOT_NAMED, developmentOnly: true, why: OLD_FORM },
  { name: 'dicer', licence: NOT_NAMED, developmentOnly: true, why: OLD_FORM },
  { name: 'streamsearch', licence: NOT_NAMED, developmentOnly: true, why: OLD_FORM },
  { name: 'humanize-number', licence: NOT_NAMED, developmentOnly: true, why: IN_README },
  { name: 'only', licence: NOT_NAMED, developmentOnly: true, why: IN_README },
]

/** @param exceptions the packages that may have another licence */
export function judgeLicences({ packages }: Lockfile, exceptions = LICENCE_EXCEPTIONS): LicenceReport {
  const counts = new Map<string, number>()
  const problems: string[] = []
  const used = new Set<LicenceException>()
  for (const [path, locked] of Object.entries(packages)) {
    // The empty path is this repository itself.
    if (path === '') continue
    const name = toPackageName(path, locked)
    const licence = locked.license ?? findMainLicence(packages, path, locked)
    counts.set(licence ?? 'none', (counts.get(licence ?? 'none') ?? 0) + 1)
    if (licence !== undefined && isAllowedLicence(licence)) continue
    const exception = exceptions.find(
      (known) => known.name === name && known.licence === (licence ?? NOT_NAMED),
    )
    if (exception) used.add(exception)
    if (exception && (locked.dev || !exception.developmentOnly)) continue
    problems.push(`${name}@${locked.version}: ${describeRefusal(licence, exception)}`)
  }
  for (const { name, licence } of exceptions.filter((exception) => !used.has(exception))) {
    problems.push(`${name}: no package with this name has the licence ${licence}. Remove the exception.`)
  }
  return { counts, problems }
}

const describeRefusal = (licence: string | undefined, exception: LicenceException | undefined) => {
  if (licence === undefined) return 'names no licence. Ask its authors, or use another package.'
  if (exception) return `may have the licence ${licence} for development only, and an installation has it.`
  return `has the licence ${licence}, which is not allowed. Use another package, or add an exception with its reason.`
}

/** `node_modules/a/node_modules/@b/c` is `@b/c`. An alias has its own name beside its path. */
const toPackageName = (path: string, { name }: LockedPackage) =>
  name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/**
 * The lockfile has no licence for a package that this machine does not install: a build for another system. Such a
 * build is a part of the package that lists it, and has the licence of that package.
 */
function findMainLicence(
  packages: Lockfile['packages'],
  path: string,
  locked: LockedPackage,
): string | undefined {
  if (!locked.os && !locked.cpu) return undefined
  const name = toPackageName(path, locked)
  const main = Object.values(packages).find(
    ({ optionalDependencies, license }) =>
      optionalDependencies?.[name] !== undefined && license !== undefined,
  )
  return main?.license
}

/**
 * Reads an SPDX expression (https://spdx.github.io/spdx-spec/v2.3/SPDX-license-expressions/): of `OR` one part must be
 * allowed, of `AND` every part. `AND` binds more tightly. An identifier with an exception (`WITH`) is not known here.
 */
export function isAllowedLicence(expression: string): boolean {
  const inner = /\(([^()]*)\)/.exec(expression)
  if (inner) {
    const value = isAllowedLicence(inner[1] ?? '') ? 'MIT' : 'refused'
    return isAllowedLicence(expression.replace(inner[0], ` ${value} `))
  }
  return expression
    .split(/\s+OR\s+/)
    .some((part) => part.split(/\s+AND\s+/).every((identifier) => ALLOWED.has(identifier.trim())))
}

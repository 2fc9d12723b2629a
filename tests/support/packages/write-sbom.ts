// `npm run -s sbom` writes the software bill of materials: every package of an installation, with version, licence and
// hash, as CycloneDX JSON (https://cyclonedx.org). npm makes the list from the lockfile.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import manifest from '../../../package.json' with { type: 'json' }

interface Component {
  'bom-ref': string
  name: string
  properties?: { name: string; value: string }[]
}

interface BillOfMaterials {
  metadata: { component: { name: string } }
  components: Component[]
  dependencies: { ref: string; dependsOn?: string[] }[]
}

/** npm gives this property to packages that nothing but development needs. */
const isForDevelopment = ({ properties = [] }: Component) =>
  properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true')

/**
 * Removes the packages for development. npm's own `--omit dev` (measured with npm 11.19.1) also leaves out packages that
 * an installation needs, when a package for development needs them too: hono, nodemailer and zod.
 */
function keepInstalled(bill: BillOfMaterials): BillOfMaterials {
  const components = bill.components.filter((component) => !isForDevelopment(component))
  const kept = new Set([
    `${manifest.name}@${manifest.version}`,
    ...components.map((component) => component['bom-ref']),
  ])
  const dependencies = bill.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((needed) => kept.has(needed)) }))
  // npm takes the name of the folder.
  const component = { ...bill.metadata.component, name: manifest.name }
  return { ...bill, metadata: { ...bill.metadata, component }, components, dependencies }
}

/** Removes what is about the npm package: npm knows no override of a package that another one brings along. */
const withoutBundle = (file: object) =>
  JSON.stringify(file, (key, value) => (['bundleDependencies', 'inBundle'].includes(key) ? undefined : value))

const directory = mkdtempSync(join(tmpdir(), 'towpath-sbom-'))
await Bun.write(join(directory, 'package.json'), withoutBundle(manifest))
const lockfile = await Bun.file(join(import.meta.dir, '../../../package-lock.json')).json()
await Bun.write(join(directory, 'package-lock.json'), withoutBundle(lockfile))
const npm = Bun.spawn(
  ['npm', 'sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'],
  { cwd: directory, stdout: 'pipe', stderr: 'inherit' },
)
const output = await new Response(npm.stdout).text()
rmSync(directory, { recursive: true })
if ((await npm.exited) !== 0) process.exit(1)
process.stdout.write(`${JSON.stringify(keepInstalled(JSON.parse(output) as BillOfMaterials), null, 2)}\n`)

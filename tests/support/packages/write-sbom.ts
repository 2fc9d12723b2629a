// `npm run -s sbom` writes the software bill of materials: every package of an installation, with version, licence and
// hash, as CycloneDX JSON (https://cyclonedx.org). npm makes the list from the lockfile.

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

const npm = Bun.spawn(
  ['npm', 'sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'],
  { cwd: join(import.meta.dir, '../../..'), stdout: 'pipe', stderr: 'inherit' },
)
const output = await new Response(npm.stdout).text()
if ((await npm.exited) !== 0) process.exit(1)
process.stdout.write(`${JSON.stringify(keepInstalled(JSON.parse(output) as BillOfMaterials), null, 2)}\n`)

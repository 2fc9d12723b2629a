// The compose files and the manifests fit this release: their settings are settings, their Caddyfile is one, their paths and
// probes exist. Nothing here starts a container: image.test.ts does.

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../server/config/config.ts'
import { RESERVED_SLUGS } from '../../server/features/links/slug.ts'
import { ROOT } from '../support/architecture/read-checkout.ts'
import { getCaddy } from '../support/processes/caddy.ts'

const INSTALL_MS = 600_000
const readText = (path: string) => Bun.file(join(ROOT, path)).text()

/** The operator's values in `.env` or the Secret. */
const OPERATOR = {
  TOWPATH_HOST: 'go.example',
  TOWPATH_SECRET: '8f0c2a61d4b7e95302f4c8a1d6b3e79058c1f2a4d7b6e930',
  POSTGRES_PASSWORD: 'b1946ac92492d234',
  CLICKHOUSE_PASSWORD: '591785b794601e21',
}

const replaceVariables = (text: string) =>
  text.replace(/\$\{(\w+)\}/g, (_, name) => OPERATOR[name as keyof typeof OPERATOR] ?? `no ${name}`)

/** @throws with every wrong setting. `DATA_DIR` is the test's own. */
function checkSettings(settings: Record<string, string>) {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-deploy-'))
  try {
    return readConfig({ ...settings, DATA_DIR: dataDir })
  } finally {
    rmSync(dataDir, { recursive: true })
  }
}

interface Service {
  image?: string
  build?: string
  environment: Record<string, string>
  env_file?: string
  volumes: string[]
  read_only?: boolean
  tmpfs?: string[]
  cap_drop?: string[]
  security_opt?: string[]
  networks: string[]
}

test('the compose file of one server has right settings, volumes, and nothing that may write elsewhere', async () => {
  const file = Bun.YAML.parse(await readText('compose.yaml')) as {
    services: Record<'towpath' | 'caddy', Service>
    volumes: Record<string, unknown>
    networks: { inside: { ipam: { config: { subnet: string }[] } } }
  }
  const { towpath, caddy } = file.services
  const replaceHost = (text: string) => text.replace(/\$\{TOWPATH_URL[^}]*\}/, 'https://go.example')
  const settings = Object.fromEntries(
    Object.entries(towpath.environment).map(([name, value]) => [name, replaceHost(value)]),
  )
  const { origin, port } = checkSettings(settings)
  expect([origin, port]).toEqual(['https://go.example', 3000])
  expect(settings.TRUST_PROXY).toBe(file.networks.inside.ipam.config[0]?.subnet)
  expect(caddy.environment.TOWPATH_UPSTREAM).toBe(`towpath:${port}`)
  expect(towpath.env_file).toBe('.env')

  const dockerfile = await readText('Dockerfile')
  for (const { read_only, tmpfs, cap_drop, security_opt, networks, volumes } of [towpath, caddy]) {
    const protections = { read_only, tmpfs, cap_drop, security_opt, networks }
    expect(protections).toEqual({
      read_only: true,
      tmpfs: ['/tmp'],
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      networks: ['inside'],
    })
    for (const volume of volumes) {
      const [from = '', to = ''] = volume.split(':')
      if (from.startsWith('./')) expect(await Bun.file(join(ROOT, from)).exists()).toBe(true)
      else expect(Object.keys(file.volumes)).toContain(from)
      // A volume gets its owner from the directory in the image.
      if (volumes === towpath.volumes) expect(dockerfile).toMatch(new RegExp(`install -d .* ${to}\\b`))
    }
  }
  expect(await Bun.file(join(ROOT, towpath.build as string, 'Dockerfile')).exists()).toBe(true)
})

test('the nodes of the compose file have equal and right settings, and a volume each', async () => {
  const { services } = Bun.YAML.parse(await readText('deploy/cluster/compose.yaml')) as {
    services: Record<string, { environment: Record<string, string>; volumes: string[]; build?: string }>
  }
  const nodes = Object.entries(services).filter(([name]) => name.startsWith('node-'))
  expect(nodes).toHaveLength(3)
  for (const [name, { environment, volumes, build }] of nodes) {
    const settings = Object.fromEntries(
      Object.entries(environment).map(([key, value]) => [key, replaceVariables(value)]),
    )
    const { origin, databaseUrl, clickHouseUrls, innerPort } = checkSettings(settings)
    expect(origin).toBe('https://go.example')
    expect(databaseUrl).toContain('@postgres:5432/')
    expect(clickHouseUrls).toEqual([`http://towpath:${OPERATOR.CLICKHOUSE_PASSWORD}@clickhouse:8123/towpath`])
    expect(innerPort).toBe(3001)
    expect(volumes).toEqual([`${name}:/data`])
    expect(await Bun.file(join(ROOT, 'deploy/cluster', build as string, 'Dockerfile')).exists()).toBe(true)
  }
})

test('the Kubernetes manifests have right settings, a volume for each node, and paths of this release', async () => {
  interface Manifest {
    kind: string
    data?: Record<string, string>
    // biome-ignore lint/suspicious/noExplicitAny: manifests have many shapes
    spec?: any
  }
  const manifests = Bun.YAML.parse(await readText('deploy/kubernetes/towpath.yaml')) as Manifest[]
  const getManifest = (kind: string) => manifests.find((manifest) => manifest.kind === kind) as Manifest
  const { origin } = checkSettings({
    ...getManifest('ConfigMap').data,
    TOWPATH_SECRET: OPERATOR.TOWPATH_SECRET,
    DATABASE_URL: 'postgres://towpath@db.example/towpath',
    CLICKHOUSE_URL: 'https://towpath@clicks.example:8443/towpath',
  })
  const { template, volumeClaimTemplates } = getManifest('StatefulSet').spec
  const [container] = template.spec.containers
  expect(container.volumeMounts[0]).toEqual({
    name: volumeClaimTemplates[0].metadata.name,
    mountPath: '/data',
  })
  const { host, http } = getManifest('Ingress').spec.rules[0]
  expect(origin).toBe(`https://${host}`)
  const segments = http.paths.map(({ path }: { path: string }) => path.split('/')[1])
  expect(segments.filter((segment: string) => segment !== '' && !RESERVED_SLUGS.has(segment))).toEqual([])
})

test(
  'Caddy takes the Caddyfile, which sends page views to the port of redirects, and no other reserved path',
  async () => {
    const path = join(ROOT, 'deploy/cluster/Caddyfile')
    const run = Bun.spawnSync([getCaddy(), 'validate', '--config', path, '--adapter', 'caddyfile'], {
      env: { ...process.env, TOWPATH_HOST: OPERATOR.TOWPATH_HOST },
      stderr: 'pipe',
    })
    expect({ exitCode: run.exitCode, said: run.exitCode === 0 ? '' : run.stderr.toString() }).toEqual({
      exitCode: 0,
      said: '',
    })
    const caddyfile = await readText('deploy/cluster/Caddyfile')
    expect(caddyfile).toMatch(
      /@views \{\s+method POST\s+path \/e\s+\}\s+handle @views \{\s+reverse_proxy node-1:3000 /,
    )
    const inner = /@inner path (.+)/.exec(caddyfile)?.[1]?.split(' ') ?? []
    const named = new Set(inner.map((pattern) => pattern.split('/')[1]))
    // Nobody on the internet needs these, and the other port has them too.
    const unnamed = ['version', 'metrics', 'tls', 'favicon.ico', 'sitemap.xml', '.well-known']
    expect([...RESERVED_SLUGS].filter((slug) => !named.has(slug) && !unnamed.includes(slug))).toEqual([])
  },
  INSTALL_MS,
)

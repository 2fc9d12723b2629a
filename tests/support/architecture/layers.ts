// Rules about imports in server/: arrows between layers, arrows between features, and the only mounter of routes.

import { listLocalImports } from './import-graph.ts'
import type { RuleName, Violation } from './rule.ts'
import type { SourceFile } from './typescript-source.ts'

/** The layers that each layer may import. */
const LAYERS: Record<string, string[]> = {
  main: ['start', 'workers', 'config', 'lib'],
  cli: ['cli', 'start', 'workers', 'config', 'features', 'storage', 'http', 'lib'],
  start: ['start', 'workers', 'web', 'config', 'features', 'storage', 'http', 'lib'],
  workers: ['workers', 'web', 'config', 'storage', 'http', 'lib'],
  web: ['web', 'features', 'storage', 'http', 'lib'],
  config: ['config', 'features', 'storage', 'lib'],
  features: ['features', 'storage', 'http', 'lib'],
  storage: ['storage', 'lib'],
  http: ['http', 'lib'],
  lib: ['lib'],
}

/** Every feature may import from accounts. A new arrow is a decision with a reason in docs/adr/. */
export const ALLOWED_FEATURE_IMPORTS: Record<string, string[]> = {
  accounts: [],
  backup: ['hits'],
  cluster: [],
  doctor: ['backup', 'cluster', 'hits'],
  mcp: [],
  destinations: ['links'],
  links: ['notify'],
  redirect: ['links', 'hits', 'visitors'],
  visitors: [],
  hits: ['visitors'],
  analytics: ['hits', 'links', 'notify'],
  splits: ['analytics', 'links'],
  views: ['analytics', 'notify', 'proofs'],
  live: ['analytics'],
  forms: ['attribution', 'notify', 'visitors'],
  tracking: ['hits', 'visitors'],
  attribution: ['tracking', 'hits', 'links', 'visitors'],
  notify: [],
  outcomes: ['notify', 'visitors'],
  proofs: [],
  reconcile: ['analytics', 'transfer'],
  transfer: ['attribution', 'forms', 'hits', 'links', 'notify', 'outcomes', 'tracking', 'views', 'visitors'],
}

const ENTRANCE = /^server\/features\/(?:[\w-]+\/(?:api|public)|.+-api)\.ts$/

/** The gates of /v1. Routes use them too. */
const GATES = 'server/features/accounts/access/'

const ROUTE_MAPS = ['server/web/routes.ts', 'server/web/api.ts']

/** The files of features that the route map takes handlers from. */
const listMounted = (server: SourceFile[]) =>
  server
    .filter(({ path }) => ROUTE_MAPS.includes(path))
    .flatMap(listLocalImports)
    .filter(({ target, typeOnly }) => !typeOnly && findFeature(target) && !target.startsWith(GATES))
    .map(({ target }) => target)

function findLayer(path: string): string | undefined {
  const [, folder = '', file] = path.split('/')
  if (file === undefined) return folder === 'main.ts' ? 'main' : undefined
  return folder !== 'main' && Object.hasOwn(LAYERS, folder) ? folder : undefined
}

export const findFeature = (path: string) => /^server\/features\/([^/]+)\//.exec(path)?.[1]

export function checkLayers(source: SourceFile): Violation[] {
  const { path } = source
  const found: Violation[] = []
  const add = (rule: RuleName, line: number, message: string) =>
    found.push({ rule, file: path, line, what: '', message })
  const layer = findLayer(path)
  if (!layer) add('layers', 1, 'server/ has no such layer')
  const feature = findFeature(path)
  if (layer === 'features' && (!feature || !ALLOWED_FEATURE_IMPORTS[feature]))
    add('features', 1, 'ALLOWED_FEATURE_IMPORTS has no such feature')
  for (const { target, line } of listLocalImports(source)) {
    if (!target.startsWith('server/')) {
      if (layer !== 'config') add('layers', line, `reaches out of server/ to ${target}`)
      continue
    }
    const other = findLayer(target)
    if (layer && other && !LAYERS[layer]?.includes(other))
      add('layers', line, `${layer} may not use ${other} (${target})`)
    const used = findFeature(target)
    const known = feature && used && used !== feature && used !== 'accounts'
    if (known && !ALLOWED_FEATURE_IMPORTS[feature]?.includes(used))
      add('features', line, `${feature} may not use ${used} (${target})`)
  }
  return found
}

/** An entrance answers requests. Only the route map imports entrances, so it shows everything that can be reached. */
export function checkEntrances(server: SourceFile[]): Violation[] {
  const mounted = new Set(listMounted(server))
  return server
    .filter(({ path }) => !ROUTE_MAPS.includes(path))
    .flatMap((source) =>
      listLocalImports(source)
        .filter(({ target, typeOnly }) => !typeOnly && (mounted.has(target) || ENTRANCE.test(target)))
        .map(({ target, line }) => {
          const message = `only the route map imports ${target}`
          return { rule: 'entrances' as const, file: source.path, line, what: '', message }
        }),
    )
}

/** The arrows that the code uses, such as `hits → visitors`. */
export const listFeatureArrows = (sources: SourceFile[]): Set<string> =>
  new Set(
    sources.flatMap((source) =>
      listLocalImports(source).map(({ target }) => `${findFeature(source.path)} → ${findFeature(target)}`),
    ),
  )

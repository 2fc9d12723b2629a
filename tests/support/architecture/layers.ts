// Rules about imports in server/: which layer may use which, which feature may use which, and who mounts routes.

import { listLocalImports } from './import-graph.ts'
import type { RuleName, Violation } from './rule.ts'
import type { SourceFile } from './typescript-source.ts'

/** Which layer may use which. `wiring` is main, app, services, jobs and config: the files directly in server/. */
const LAYERS: Record<string, string[]> = {
  wiring: ['wiring', 'cli', 'features', 'storage', 'http', 'lib'],
  cli: ['wiring', 'cli', 'features', 'storage', 'http', 'lib'],
  features: ['features', 'storage', 'http', 'lib'],
  storage: ['storage', 'lib'],
  http: ['http', 'lib'],
  lib: ['lib'],
}

/** Every feature may use accounts. One more arrow is a decision: docs/adr/ says why. */
export const ALLOWED_FEATURE_IMPORTS: Record<string, string[]> = {
  accounts: [],
  links: [],
  redirect: ['links', 'hits'],
  visitors: [],
  hits: ['visitors'],
  analytics: [],
  forms: ['attribution', 'notify', 'visitors'],
  tracking: ['hits', 'visitors'],
  attribution: ['tracking', 'hits', 'links', 'visitors'],
  notify: [],
}

/** Files that answer requests: `api.ts`, `public.ts`, `…-api.ts`, and two that the snippet's page loads. */
const ENTRANCE =
  /^server\/features\/(?:[\w-]+\/(?:api|public)\.ts|.+-api\.ts|tracking\/snippet\.ts|forms\/endpoint\/form-info\.ts)$/

function findLayer(path: string): string | undefined {
  const [, first, second] = path.split('/')
  if (second === undefined) return 'wiring'
  return first !== undefined && first !== 'wiring' && Object.hasOwn(LAYERS, first) ? first : undefined
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
  for (const { target, typeOnly, line } of listLocalImports(source)) {
    if (!target.startsWith('server/')) {
      if (layer !== 'wiring') add('layers', line, `reaches out of server/ to ${target}`)
      continue
    }
    const other = findLayer(target)
    if (layer && other && !LAYERS[layer]?.includes(other))
      add('layers', line, `${layer} may not use ${other} (${target})`)
    const used = findFeature(target)
    const known = feature && used && used !== feature && used !== 'accounts'
    if (known && !ALLOWED_FEATURE_IMPORTS[feature]?.includes(used))
      add('features', line, `${feature} may not use ${used} (${target})`)
    if (ENTRANCE.test(target) && !typeOnly && path !== 'server/app.ts')
      add('entrances', line, `only app.ts mounts ${target}`)
  }
  return found
}

/** The arrows that the code uses, such as `hits → visitors`. */
export const listFeatureArrows = (sources: SourceFile[]): Set<string> =>
  new Set(
    sources.flatMap((source) =>
      listLocalImports(source).map(({ target }) => `${findFeature(source.path)} → ${findFeature(target)}`),
    ),
  )

// Areas of the dashboard whose files are loaded together. A bundler makes a file for every part that some pages share and
// others do not: hundreds of small ones, of which a page needs forty. With one entry for each area a page needs a few.

import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { BunPlugin } from 'bun'
import { bundleIcons } from './bundle-icons.ts'

const HERE = import.meta.dir

/** The first pattern that fits decides. Files that none fits, such as large data, are loaded by themselves. */
const AREAS: [name: string, pattern: RegExp][] = [
  ['whats-new', /^shell\/whats-new/],
  ['overlays', /^shell\//],
  ['controls', /^ui\/controls\//],
  ['sign-in', /^pages\/sign-in\//],
  ['links', /^pages\/links\/(?:links-page|list\/|onboarding\/)/],
  // Opened by a person, or below the first screen.
  ['filter-editor', /^pages\/analytics\/toolbar\/filter-editor/],
  [
    'below',
    /^pages\/(?:analytics\/(?:breakdowns|funnel)\/|links\/detail\/(?:redirect-tester|split-card|variant-table))/,
  ],
  // The page of a link is mostly its analytics.
  ['analytics', /^pages\/links\/detail\//],
  ['link-tools', /^pages\/links\//],
  ['compare', /^pages\/analytics\/compare\//],
  ['proofs', /^pages\/analytics\/proofs\//],
  ['views', /^pages\/analytics\/saved\//],
  ['analytics', /^pages\/analytics\/(?!map\/)/],
  // Large data, which the page does without at first.
  ['drawings', /^(?:pages\/analytics\/map|ui\/icons)\//],
  ['live', /^pages\/live\//],
  ['inbox', /^pages\/inbox\/inbox-page/],
  ['inbox-tools', /^pages\/inbox\//],
  ['form-settings', /^pages\/forms\/settings\//],
  ['forms', /^pages\/forms\//],
  ['notifications', /^pages\/(?:channels|deliveries)\//],
  ['domains', /^pages\/domains\//],
  ['settings', /^pages\/(?:settings|tags|transfer)\//],
]

/**
 * The first file includes what the first page shares with most areas, which saves requests of a few hundred bytes.
 */
const WITH_MAIN = [
  'ui/!(collapsible-section|countries|country-flag|favicon|progress-bar|save-file|use-in-view).{ts,tsx}',
  'ui/forms/{control-class,field,form,form-error,read-options,select,select-face,search-field,use-debounced,use-debounced-text}.{ts,tsx}',
  'ui/copy/copy-button.tsx',
  'ui/overlays/use-undoable-delete.ts',
  'api/{domains,links,pages,tags}.ts',
  'pages/links/{editor/destination-url,tag-picker/use-tag-options}.ts',
  'pages/links/link/{link-menu-button.tsx,link-name.ts,link-state.tsx,use-link-actions.ts}',
]

/** One more file has what the other areas share. */
const WITH_OTHERS = [
  'ui/{collapsible-section,countries,country-flag,progress-bar,save-file,use-in-view}.{ts,tsx}',
  'ui/{copy,overlays}/*.{ts,tsx}',
  // Pages before the sign-in share the field of a new password with the settings, and nothing else.
  'ui/forms/!(new-password-field).{ts,tsx}',
  'ui/charts/bar.tsx',
  'ui/icons/value-icon.tsx',
  'api/{analytics,field-names,forms,missing,submissions,views,workspace}.ts',
  'api/inbox/*.ts',
  'pages/inbox/state/{display-text,element-ids,readable-name,submission-status}.ts',
  'pages/inbox/reader/person-buttons.tsx',
  'pages/inbox/dialogs/receipt-dialog.tsx',
  'api/channels/{change-channel,own-channel}.ts',
  'pages/channels/{channel-kinds,channel-notice}.tsx',
  'pages/channels/find-silence.ts',
  'pages/links/link/{describe-rule,link-devices}.ts',
  'pages/links/link/variant-dot.tsx',
  'pages/analytics/breakdowns/use-top-list.ts',
  'pages/analytics/view/{dimension-filter,dimensions,use-param-dimensions}.ts',
  'api/finding-texts.ts',
  'pages/analytics/saved/view-settings.ts',
  '../server/features/forms/markup.ts',
  'pages/forms/settings/groups/{channel-choice.tsx,use-page-suggestion.ts}',
]
const WITHOUT_OTHERS = ['controls', 'links', 'sign-in']
/** The first file has some files of these, or they are loaded without what the others share. */
const EARLY_AREAS = [undefined, 'overlays', 'drawings', ...WITHOUT_OTHERS]

/** Small shared modules are copied into each importer, because a separate file costs more. */
const COPIED = /^@base-ui\/utils\/(?:isElementDisabled|useControlled)$/

const findArea = (path: string) => AREAS.find(([, pattern]) => pattern.test(relative(HERE, path)))?.[0]

/** `export *` omits a default export, so such a file gets its own entry. */
const hasDefault = (file: string) => readFileSync(file, 'utf8').includes('export default')

const DEFAULT = 'default '

/** The targets of `import('…')` in the sources, by area. */
function listTargets(): Map<string, Set<string>> {
  const areas = new Map<string, Set<string>>()
  for (const name of new Bun.Glob('**/*.{ts,tsx}').scanSync({ cwd: HERE })) {
    const path = join(HERE, name)
    for (const [, target = ''] of readFileSync(path, 'utf8').matchAll(/\bimport\('(\.[^']+)'\)/g)) {
      const file = join(path, '..', target)
      const area = findArea(file)
      if (area && !hasDefault(file)) areas.set(area, (areas.get(area) ?? new Set()).add(file))
    }
  }
  return areas
}

const listFiles = (patterns: string[]) =>
  patterns
    .flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: HERE })].map((name) => join(HERE, name)))
    .sort()

const toImports = (patterns: string[]) =>
  listFiles(patterns)
    .map((file) => `import ${JSON.stringify(file)}\n`)
    .join('')

/** Sends each dynamic import to the entry of its area, which exports everything that is imported so. */
export const bundleAreas: BunPlugin = {
  name: 'areas',
  setup(build) {
    const targets = listTargets()
    const first = new Set(listFiles(WITH_MAIN))
    const isLater = (file: string) => !first.has(file) && !EARLY_AREAS.includes(findArea(file))
    const sharedIcons = bundleIcons(build, listFiles(['**/*.tsx']), findArea, isLater)
    build.onResolve({ filter: COPIED }, ({ path, importer }) => ({
      path: `${importer}:${Bun.resolveSync(path, HERE)}`,
      namespace: 'copy',
    }))
    build.onLoad({ filter: /.*/, namespace: 'copy' }, ({ path }) => {
      const file = path.slice(path.lastIndexOf(':') + 1)
      const toAbsolute = (_: string, quote: string) => `from ${quote}${join(file, '..')}/`
      return { contents: readFileSync(file, 'utf8').replace(/from (['"])\.\//g, toAbsolute), loader: 'js' }
    })
    build.onResolve({ filter: /^\.\.?\// }, ({ path, importer, kind }) => {
      if (kind !== 'dynamic-import') return undefined
      const file = join(importer, '..', path)
      const area = findArea(file)
      return area ? { path: hasDefault(file) ? `${DEFAULT}${file}` : area, namespace: 'area' } : undefined
    })
    build.onLoad({ filter: /\/dashboard\/main\.tsx$/ }, ({ path }) => ({
      contents: `${readFileSync(path, 'utf8')}\n${toImports(WITH_MAIN)}`,
      loader: 'tsx',
    }))
    build.onLoad({ filter: /.*/, namespace: 'area' }, ({ path }) => ({
      // Exported names are unique in the dashboard (tests/architecture.test.ts).
      contents: [
        path.startsWith(DEFAULT)
          ? `export { default } from ${JSON.stringify(path.slice(DEFAULT.length))}\n`
          : '',
        ...[...(targets.get(path) ?? [])].sort().map((file) => `export * from ${JSON.stringify(file)}\n`),
        ...(WITHOUT_OTHERS.includes(path)
          ? []
          : [
              toImports(WITH_OTHERS),
              ...sharedIcons.map(
                (file, i) => `export { default as icon${i} } from ${JSON.stringify(file)}\n`,
              ),
            ]),
      ].join(''),
      loader: 'ts',
    }))
  },
}

// Writes docs/settings.md from the settings that the server knows. `npm run docs:settings` writes the file, and
// tests/maps.test.ts compares it.

import { join } from 'node:path'
import { SETTING_GROUPS } from '../../server/config/setting-groups.ts'

export const SETTINGS_PAGE = join(import.meta.dir, '../../docs/settings.md')

const INTRODUCTION = `# Settings

Settings are environment variables, all optional. A wrong value stops the start, which names it and its remedy.
\`npm run docs:settings\` writes this page from \`server/config/setting-groups.ts\`.`

export const settingsPage = (): string =>
  [INTRODUCTION, ...Object.entries(SETTING_GROUPS).map(([title, settings]) => formatGroup(title, settings))]
    .join('\n\n')
    .concat('\n')

function formatGroup(title: string, settings: Record<string, readonly [string, string]>): string {
  const rows = Object.entries(settings).map(
    ([name, [standard, meaning]]) => `| \`${name}\` | ${standard} | ${meaning} |`,
  )
  return [`## ${title}`, '', '| variable | default | meaning |', '|---|---|---|', ...rows].join('\n')
}

if (import.meta.main) await Bun.write(SETTINGS_PAGE, settingsPage())

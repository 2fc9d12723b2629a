// The release that runs, and the runtime that it is tested with: what package.json says.

import manifest from '../../package.json' with { type: 'json' }

export const { version: VERSION } = manifest
export const VERSIONS = { towpath: VERSION, bun: manifest.dependencies.bun }

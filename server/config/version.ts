// The running release and the runtime with which it is tested, from package.json.

import manifest from '../../package.json' with { type: 'json' }

export const { version: VERSION } = manifest
export const VERSIONS = { towpath: VERSION, bun: manifest.dependencies.bun }

// The release that runs, for parts of server/ that are not wiring themselves.

import manifest from '../package.json' with { type: 'json' }

export const { version: VERSION } = manifest

// Finds or installs Caddy, for the tests of configurations.

import { canInstallPackages, installPackage } from './debian-package.ts'

/** @throws a sentence when there is no Caddy, and none can be installed */
export function getCaddy(): string {
  if (!Bun.which('caddy') && canInstallPackages()) installPackage('caddy', 'install Caddy.')
  const program = Bun.which('caddy')
  if (!program) throw new Error('This test needs Caddy: install it.')
  return program
}

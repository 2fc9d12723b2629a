// The data directories that releases left for tests of upgrades. write-release-data.ts makes the next one.

import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const FIXTURES = join(import.meta.dir, '../../fixtures')

/** The same in the data of each release. */
export const RELEASE_PERSON = {
  origin: 'http://localhost:4555',
  email: 'ann@example.com',
  password: 'a long password of a lock keeper',
}

/** The credentials for the data of a release. A server keeps only the hash of a key. */
export interface ReleaseData {
  version: string
  key: string
  formKey: string
}

export function listReleases(): string[] {
  const names = readdirSync(FIXTURES).map(
    (name) => /^data-(\d+\.\d+\.\d+(?:-\w+)?)\.tar\.gz$/.exec(name)?.[1],
  )
  return names.filter((version) => version !== undefined).sort(Bun.semver.order)
}

export const readReleaseData = (version: string): Promise<ReleaseData> =>
  Bun.file(join(FIXTURES, `data-${version}.json`)).json()

/** @returns a new directory with the data of a release, as its server left it */
export function unpackReleaseData(version: string): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-upgrade-'))
  const archive = join(FIXTURES, `data-${version}.tar.gz`)
  const { success, stderr } = Bun.spawnSync(['tar', '-xzf', archive, '-C', dataDir], { stderr: 'pipe' })
  if (!success) throw new Error(`${archive} cannot be unpacked: ${stderr}`)
  return dataDir
}

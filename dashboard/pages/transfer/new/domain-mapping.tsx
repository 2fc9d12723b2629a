// Maps each host in the file to a domain of this workspace.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type DomainResource, domainsQuery } from '../../../api/domains.ts'
import type { FileInspection } from '../../../api/transfer/imports.ts'
import { useApi, useWorkspace } from '../../../shell/use-workspace.ts'
import { Card } from '../../../ui/card.tsx'
import { formatCount } from '../../../ui/format.ts'
import { SelectField } from '../../../ui/forms/field.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { toVisibleText } from '../../../ui/visible-text.ts'

interface Props {
  hosts: FileInspection['hosts']
  domainMap: Record<string, string>
  errors: Record<string, string>
  change: (domainMap: Record<string, string>) => void
}

export function DomainMapping({ hosts, domainMap, errors, change }: Props) {
  const { id } = useWorkspace()
  const domains = useQuery(domainsQuery(useApi()))
  if (domains.isPending) return <SkeletonRows rows={1} className="h-40 rounded-2xl" />
  const verified = (domains.data ?? []).filter((domain) => domain.verified)
  const suggest = (host: string) => findSuggestion(verified, host)
  const foreign = hosts.filter(({ host }) => (domainMap[host] ?? suggest(host)) !== host)
  return (
    <Card title="Domains">
      <p className="mb-4 text-soft">
        Choose a domain for the links. Old short links work here once the DNS of the old domain points here.
      </p>
      {errors.domainMap && (
        <p role="alert" className="mb-3 text-sm text-danger">
          {errors.domainMap}
        </p>
      )}
      <ul className="grid grid-cols-1 gap-4">
        {hosts.map(({ host, links }) => (
          <li key={host}>
            <SelectField
              label={
                <span className="flex flex-wrap gap-x-2">
                  <bdi className="wrap-anywhere">{toVisibleText(host)}</bdi>
                  <span className="font-normal text-soft">{formatCount(links, 'link')} to</span>
                </span>
              }
              className="grid-cols-1"
              error={errors[`domainMap.${host}`]}
              value={domainMap[host] ?? suggest(host)}
              onChange={({ target }) => change({ ...domainMap, [host]: target.value })}
            >
              {[location.host, ...verified.map(({ domain }) => domain)].map((name) => (
                <option key={name} value={name}>
                  {name}
                  {verified.find(({ domain }) => domain === name)?.caseSensitive && ' (case-sensitive)'}
                </option>
              ))}
            </SelectField>
          </li>
        ))}
      </ul>
      {foreign.length > 0 && (
        <p className="mt-4 text-sm text-soft">
          Is one of these hosts yours? To keep its short links as they are,{' '}
          <Link
            to="/$workspaceId/domains"
            params={{ workspaceId: String(id) }}
            search={{ new: '1' }}
            className="text-link"
          >
            add it as a domain
          </Link>{' '}
          first. Your file stays chosen here.
        </p>
      )}
    </Card>
  )
}

/** As the server decides where nothing is said: the workspace's own domain of that name, else that of new links. */
const findSuggestion = (verified: DomainResource[], host: string) =>
  (verified.find(({ domain }) => domain === host) ?? verified.find(({ primary }) => primary))?.domain ??
  location.host

// The question before a domain is deleted, and where its links go.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../../api/client.ts'
import {
  type DomainResource,
  deleteDomain,
  domainQuery,
  domainsQuery,
  invalidateDomains,
} from '../../api/domains.ts'
import { invalidateLinks } from '../../api/links.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { formatCount } from '../../ui/format.ts'
import { SelectField } from '../../ui/forms/field.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'

/** A domain that can take the links. */
interface Target {
  id: string
  name: string
}

export function DeleteDomainDialog({ domain, onClose }: { domain: DomainResource; onClose: () => void }) {
  const targets = useTargets(domain)
  const [chosen, choose] = useState('default')
  const [hasTrash, setHasTrash] = useState(false)
  const remove = useDelete(domain)
  const { links } = domain
  const target = links > 0 || hasTrash ? targets.find(({ id }) => id === chosen) : undefined
  async function confirm() {
    try {
      await remove(target)
    } catch (error) {
      // Links in the trash have kept their slugs, and are not in the count.
      if (target || !(error instanceof ApiError && error.status === 409)) throw error
      setHasTrash(true)
      throw new Error(
        'Links in the trash are still on this domain. Choose where they move, and delete again.',
      )
    }
  }
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Delete ${domain.domain}?`}
      action={target ? `Move ${hasTrash ? 'links' : formatCount(links, 'link')} and delete` : 'Delete domain'}
      onConfirm={confirm}
    >
      {target ? (
        <>
          <p>
            {formatCount(links, 'link')} {links === 1 ? 'is' : 'are'} on this domain. Choose where{' '}
            {links === 1 ? 'it moves' : 'they move'}, with those in the trash. Slugs and clicks stay.
          </p>
          <SelectField
            label="Move the links to"
            value={target.id}
            onChange={(event) => choose(event.target.value)}
            options={targets.map(({ id, name }) => [id, name])}
          />
        </>
      ) : (
        <p>No link is on this domain.</p>
      )}
      <p className="text-soft">
        Every address under {domain.domain} stops working at once. What was printed or sent with this name
        leads nowhere.
      </p>
    </ConfirmDialog>
  )
}

function useTargets(domain: DomainResource): Target[] {
  const { data: domains = [] } = useQuery(domainsQuery(useApi()))
  const others = domains.filter(({ id, verified }) => verified && id !== domain.id)
  return [
    { id: 'default', name: location.host },
    ...others.map(({ id, domain: name }) => ({ id: String(id), name })),
  ]
}

function useDelete(domain: DomainResource) {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate()
  return async (target: Target | undefined) => {
    await deleteDomain(api, domain.id, target?.id)
    await navigate({
      to: '/$workspaceId/domains',
      params: { workspaceId: String(api.workspaceId) },
      search: {},
    })
    client.removeQueries({ queryKey: domainQuery(api, domain.id).queryKey })
    void invalidateDomains(client, api)
    void invalidateLinks(client, api)
    toast(
      target ? `${domain.domain} deleted. Its links are on ${target.name} now.` : `${domain.domain} deleted`,
    )
  }
}

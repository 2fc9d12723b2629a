// Makes a domain the one for new links, or the server's own domain again.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type DomainResource, invalidateDomains, storeDomain, updateDomain } from '../../api/domains.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { toast } from '../../ui/overlays/toast.tsx'

export function usePrimaryDomain() {
  const api = useApi()
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ domain, primary }: { domain: DomainResource; primary: boolean }) =>
      updateDomain(api, domain.id, { primary }),
    onSuccess(saved) {
      storeDomain(client, api, saved)
      toast(`New links use ${saved.primary ? saved.domain : location.host}`)
      // The domain that was primary until now.
      return invalidateDomains(client, api)
    },
  })
}

// The dialog that adds a domain. The domain's page says what to do next.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, toFieldErrors } from '../../api/client.ts'
import { createDomain, domainQuery, invalidateDomains } from '../../api/domains.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { CODE_INPUT } from '../../ui/forms/control-class.ts'
import { formatExample, TextField, Toggle } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'

/** People paste an address where a name is asked for. */
const toName = (text: string) => text.trim().replace(/^https?:\/\/([^/]*)\/?$/i, '$1')

export function AddDomainDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const [caseSensitive, setCaseSensitive] = useState(false)
  const add = useAddDomain()
  const { general, ...errors } = toFieldErrors(add.error, ['domain'])
  const status = add.error instanceof ApiError ? add.error.status : 0
  // The only conflict that a new domain can have is about its name.
  const nameError = errors.domain ?? (status === 409 ? general : undefined)
  return (
    <FormDialog
      onClose={onClose}
      title="Add domain"
      action="Add domain"
      busy={add.isPending}
      error={status === 409 ? undefined : general}
      noValidate
      className="grid gap-5"
      onSubmit={() => add.mutate({ domain: toName(name), caseSensitive })}
    >
      {status === 403 && <PlanHelp />}
      <TextField
        label="Domain"
        required
        autoFocus
        {...CODE_INPUT}
        inputMode="url"
        placeholder={formatExample('go.example.com')}
        hint="A name that you own and that has no website yet. A short subdomain works best."
        value={name}
        error={nameError}
        onChange={({ target }) => {
          add.reset()
          setName(target.value)
        }}
      />
      <Toggle
        label="Case-sensitive short links"
        hint="When on, /Sale and /sale are different links. Turn it on if you import links from a case-sensitive service, such as Bitly. You can’t change this later."
        checked={caseSensitive}
        onChange={({ target }) => setCaseSensitive(target.checked)}
      />
    </FormDialog>
  )
}

function useAddDomain() {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: (input: { domain: string; caseSensitive: boolean }) => createDomain(api, input),
    onSuccess(created) {
      client.setQueryData(domainQuery(api, created.id).queryKey, created)
      void invalidateDomains(client, api)
      return navigate({
        to: '/$workspaceId/domains/$domainId',
        params: { workspaceId: String(api.workspaceId), domainId: String(created.id) },
        search: {},
        replace: true,
      })
    },
    onError() {},
  })
}

function PlanHelp() {
  const { workspaceId } = useApi()
  return (
    <p className="text-sm text-soft">
      The operator of this server can change the plan:{' '}
      <code className="break-all">npx towpath workspace plan {workspaceId} business</code>
    </p>
  )
}

// The brand of the workspace, for the pages that visitors see and the mails that senders get.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { WorkspaceResource } from '../../../server/features/accounts/schema.ts'
import { toFieldErrors } from '../../api/client.ts'
import { updateWorkspace, workspaceQuery } from '../../api/workspace.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Card } from '../../ui/card.tsx'
import { BrandFields } from '../../ui/forms/brand-fields.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { SaveBar } from '../../ui/forms/save-bar.tsx'
import { toast } from '../../ui/overlays/toast.tsx'

type Brand = WorkspaceResource['brand']

export function BrandSettings({ brand, mayChange }: { brand: Brand; mayChange: boolean }) {
  const api = useApi()
  const client = useQueryClient()
  const [changes, setChanges] = useState<Partial<Brand>>({})
  const save = useMutation({
    mutationFn: () => updateWorkspace(api, { brand: changes }),
    onSuccess(saved) {
      client.setQueryData(workspaceQuery(api).queryKey, saved)
      setChanges({})
      toast('Brand saved')
    },
    onError() {},
  })
  const { general, ...errors } = toFieldErrors(
    save.error,
    Object.keys(brand).map((name) => `brand.${name}`),
  )
  const isChanged = Object.entries(changes).some(([name, value]) => brand[name as keyof Brand] !== value)
  return (
    <Card title="Brand">
      <Form className="grid grid-cols-[minmax(0,1fr)] gap-5" noValidate onSubmit={() => save.mutate()}>
        <p className="text-soft">
          Visitors see it on thank-you, error, confirmation, password, preview and not-found pages. Senders
          see it in the emails they get. A form can have its own.
        </p>
        {general && <FormError>{general}</FormError>}
        <BrandFields
          brand={{ ...brand, ...changes }}
          errors={errors}
          disabled={!mayChange}
          change={(part) => setChanges({ ...changes, ...part })}
        />
        {mayChange ? (
          <SaveBar
            isChanged={isChanged}
            busy={save.isPending}
            hasErrors={save.error !== null}
            discard={() => {
              setChanges({})
              save.reset()
            }}
          />
        ) : (
          <p className="text-sm text-soft">Only owners can change the brand.</p>
        )}
      </Form>
    </Card>
  )
}

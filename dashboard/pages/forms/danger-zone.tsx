// Deleting a form with everything that came by it: its name must be typed.

import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { FormResource } from '../../../server/features/forms/schema.ts'
import { deleteForm, formQuery } from '../../api/forms.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { formatCount } from '../../ui/format.ts'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'

export function DangerZone({ form }: { form: FormResource }) {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [asked, setAsked] = useState(false)
  async function remove() {
    await deleteForm(api, form.formKey)
    await navigate({
      to: '/$workspaceId/forms',
      params: { workspaceId: String(api.workspaceId) },
      search: {},
    })
    client.removeQueries({ queryKey: formQuery(api, form.formKey).queryKey })
    void client.invalidateQueries({ queryKey: [api.workspaceId, 'forms'] })
    void client.invalidateQueries({ queryKey: [api.workspaceId, 'submissions'] })
    toast(`${form.name} was deleted`)
  }
  return (
    <section className="rounded-2xl border border-danger bg-card p-4 sm:p-5">
      <h2 className="font-semibold">Delete this form</h2>
      <p className="mt-1 mb-4 text-soft">
        With {formatCount(form.submissions, 'submission')}, for good. Pages that still post to it are told
        that it does not exist. To keep what came, switch it off instead.
      </p>
      <Button look="danger" icon={<Trash2 size={16} />} onClick={() => setAsked(true)}>
        Delete form
      </Button>
      {asked && (
        <ConfirmDialog
          open
          onClose={() => setAsked(false)}
          title={`Delete ${form.name}?`}
          action="Delete for good"
          mustType={form.name}
          onConfirm={remove}
        >
          <p>
            {formatCount(form.submissions, 'submission')} and what is known of where they came from will be
            gone. Nothing brings them back.
          </p>
        </ConfirmDialog>
      )}
    </section>
  )
}

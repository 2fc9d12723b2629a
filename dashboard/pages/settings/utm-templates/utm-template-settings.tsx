// The UTM templates of the workspace: create, edit, delete.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import {
  deleteUtmTemplate,
  invalidateUtmTemplates,
  type UtmTemplateResource,
  utmTemplatesQuery,
} from '../../../api/utm-templates.ts'
import { useApi, useCanEdit } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { usePendingDeletions, useUndoableDelete } from '../../../ui/overlays/use-undoable-delete.ts'
import { QueryState } from '../../../ui/query-state.tsx'
import { UTM_PARAMETERS } from '../../links/editor/destination-url.ts'

const UtmTemplateDialog = lazyPart(() => import('./utm-template-dialog.tsx'), 'UtmTemplateDialog')

const toDeletionKey = ({ id }: UtmTemplateResource) => `utm-template ${id}`

export function UtmTemplateSettings() {
  const api = useApi()
  const canEdit = useCanEdit()
  const templates = useQuery(utmTemplatesQuery(api))
  const pendingDeletions = usePendingDeletions()
  const [editing, edit] = useState<UtmTemplateResource | 'new'>()
  const shown = templates.data?.filter((template) => !pendingDeletions.has(toDeletionKey(template)))
  return (
    <>
      <Card
        title="UTM templates"
        actions={
          canEdit && (
            <Button size="small" icon={<Plus size={15} />} onClick={() => edit('new')}>
              New template
            </Button>
          )
        }
      >
        <p className="mb-4 text-soft">
          A template is a named set of UTM values. Choose one in the link editor to fill its UTM fields.
        </p>
        <QueryState query={templates} rows={2} className="h-12" />
        {shown?.length === 0 && <p className="text-soft">No UTM templates yet</p>}
        <ul className="divide-y divide-line">
          {shown?.map((template) => (
            <TemplateRow
              key={template.id}
              template={template}
              canEdit={canEdit}
              edit={() => edit(template)}
            />
          ))}
        </ul>
      </Card>
      {editing && (
        <UtmTemplateDialog
          template={editing === 'new' ? undefined : editing}
          onClose={() => edit(undefined)}
        />
      )}
    </>
  )
}

interface RowProps {
  template: UtmTemplateResource
  canEdit: boolean
  edit: () => void
}

function TemplateRow({ template, canEdit, edit }: RowProps) {
  const api = useApi()
  const client = useQueryClient()
  const deleteUndoably = useUndoableDelete()
  const remove = () =>
    deleteUndoably({
      key: toDeletionKey(template),
      message: `“${template.name}” deleted`,
      async remove() {
        await deleteUtmTemplate(api, template.id)
        await invalidateUtmTemplates(client, api)
      },
      invalidates: [],
    })
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 py-3">
      <div className="min-w-0 flex-1 basis-44">
        <p className="truncate font-medium">{template.name}</p>
        <p className="truncate text-sm text-soft">
          {UTM_PARAMETERS.flatMap(({ field, name }) =>
            template[field] === null ? [] : [`${name}=${template[field]}`],
          ).join(' · ')}
        </p>
      </div>
      {canEdit && (
        <>
          <Button size="small" onClick={edit} aria-label={`Edit ${template.name}`}>
            Edit
          </Button>
          <Button size="small" onClick={remove} aria-label={`Delete ${template.name}`}>
            Delete
          </Button>
        </>
      )}
    </li>
  )
}

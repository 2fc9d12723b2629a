// The filters of the deliveries: status, channel, form, and the submission that another page named.

import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { formNamesQuery } from '../../api/forms.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { focusIfLost } from '../../ui/focus.ts'
import { Field, Select } from '../../ui/forms/field.tsx'
import { ChannelSelect } from './channel-select.tsx'
import { DELIVERY_STATUS } from './delivery-status.ts'

/** Gets the focus when the focused element is gone. */
export const FIRST_FILTER = '[data-first-filter]'

export function DeliveryFilters() {
  const navigate = useNavigate({ from: '/$workspaceId/deliveries' })
  const search = useSearch({ from: '/$workspaceId/deliveries' })
  const forms = useQuery(formNamesQuery(useApi()))
  const set = (name: 'status' | 'channelId' | 'formKey') => (event: { target: { value: string } }) =>
    navigate({ search: (s) => ({ ...s, [name]: event.target.value || undefined }), replace: true })
  return (
    <div className="mb-4 flex flex-wrap gap-2">
      <Field label="Status" hideLabel className="min-w-32 flex-1 sm:max-w-40">
        {(control) => (
          <Select {...control} data-first-filter value={search.status ?? ''} onChange={set('status')}>
            <option value="">All statuses</option>
            {Object.entries(DELIVERY_STATUS).map(([status, { label }]) => (
              <option key={status} value={status}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Channel" hideLabel className="min-w-32 flex-1 sm:max-w-52">
        {(control) => (
          <ChannelSelect {...control} value={search.channelId ?? ''} onChange={set('channelId')} />
        )}
      </Field>
      <Field label="Form" hideLabel className="min-w-32 flex-1 sm:max-w-52">
        {(control) => (
          <Select {...control} value={search.formKey ?? ''} onChange={set('formKey')}>
            <option value="">All forms</option>
            {forms.data?.map(({ formKey, name }) => (
              <option key={formKey} value={formKey}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {search.submissionId && (
        <Button
          onClick={() => {
            void navigate({ search: (s) => ({ ...s, submissionId: undefined }), replace: true })
            focusIfLost(FIRST_FILTER)
          }}
        >
          Submission {search.submissionId} <span aria-hidden>×</span>
          <span className="sr-only">: remove this filter</span>
        </Button>
      )}
    </div>
  )
}

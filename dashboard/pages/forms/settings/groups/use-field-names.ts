// The names of a form's fields, as far as they are known: from its settings and from its newest submissions.

import { useQuery } from '@tanstack/react-query'
import type { FormResource } from '../../../../../server/features/forms/schema.ts'
import { formSubmissionsQuery } from '../../../../api/inbox/newest-submissions.ts'
import { useApi } from '../../../../shell/use-workspace.ts'
import type { FormDraft } from '../form-draft.ts'

const NAMES_MAX = 30

export function useFieldNames({ formKey }: Pick<FormResource, 'formKey'>, draft: FormDraft): string[] {
  const { data } = useQuery(formSubmissionsQuery(useApi(), formKey))
  const sent = (data ?? []).flatMap(({ fields }) => Object.keys(fields))
  const named = [...draft.requiredFields, ...Object.keys(draft.rules)]
  const all = new Set([...named, ...sent, 'name', 'email', 'message'])
  return [...all].slice(0, NAMES_MAX)
}

// The language of the dashboard: the person's choice, or the browser's.

import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { setUserLanguage } from '../../../api/account.ts'
import { followLanguage, languages } from '../../../api/language.ts'
import { userQuery } from '../../../api/session.ts'
import { Card } from '../../../ui/card.tsx'
import { SelectField } from '../../../ui/forms/field.tsx'

/** `Deutsch` for `de`: everybody finds the own language by its own name. */
function toOwnName(code: string): string {
  const name = new Intl.DisplayNames(code, { type: 'language' }).of(code) ?? code
  return name.charAt(0).toLocaleUpperCase(code) + name.slice(1)
}

export function LanguageChoice() {
  const client = useQueryClient()
  const { data: user } = useSuspenseQuery(userQuery)
  const save = useMutation({
    mutationFn: setUserLanguage,
    onSuccess(_, language) {
      if (!followLanguage(language)) void client.invalidateQueries({ queryKey: userQuery.queryKey })
    },
  })
  return (
    <Card title="Language">
      <SelectField
        label="Language of the dashboard"
        className="max-w-sm"
        hint="Emails are in English."
        value={(save.isPending ? save.variables : user?.language) ?? ''}
        // A disabled list would lose the focus.
        onChange={({ target }) => save.isPending || save.mutate(target.value || null)}
      >
        <option value="">The browser’s language</option>
        {languages.map((code) => (
          <option key={code} value={code} lang={code}>
            {toOwnName(code)}
          </option>
        ))}
      </SelectField>
    </Card>
  )
}

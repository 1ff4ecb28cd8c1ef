interface OneFieldProps {
  action: string;
  form_key: string;
  name: string;
  /** The field's label. */
  label: string;
  button: string;
  type?: 'password';
  autofocus?: true;
  maxLength: number;
  placeholder: string;
}

/** A form of one field, for pages that call no API. */
export const OneField = ({ action, form_key, label, button, ...input }: OneFieldProps) => (
  <form method="post" action={action} class="line">
    <input type="hidden" name="form_key" value={form_key} />
    <label for={input.name}>{label}</label>
    <input id={input.name} required size={40} autocomplete="off" {...input} />
    <button type="submit" class="primary">
      {button}
    </button>
  </form>
);

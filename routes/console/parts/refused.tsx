/** Why the last form was refused. */
export const Refused = ({ error }: { error: string | undefined }) =>
  error === undefined ? null : (
    <p class="box error" role="alert">
      {error}
    </p>
  );

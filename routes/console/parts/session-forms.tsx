import { Do } from './form.tsx';

interface SendBackProps {
  /** The session's path in the API. */
  at: string;
  /** By which its field is reached. */
  keys: string;
}

/** Sends a plan that waits back to its agent, with what should be another way. */
export const SendBack = ({ at, keys }: SendBackProps) => (
  <Do call={`POST ${at}/revise`} keep class="line grow">
    <input
      name="comment"
      required
      aria-label="What should be another way"
      placeholder="What should be another way"
      data-key={keys}
    />
    <button type="submit">Send back</button>
  </Do>
);

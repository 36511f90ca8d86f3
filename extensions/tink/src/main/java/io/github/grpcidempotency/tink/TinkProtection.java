package io.github.grpcidempotency.tink;

import com.google.crypto.tink.Aead;
import com.google.crypto.tink.KeyStatus;
import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.Parameters;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.aead.LegacyKmsAeadParameters;
import com.google.crypto.tink.aead.LegacyKmsEnvelopeAeadParameters;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.store.StoreException;
import java.security.GeneralSecurityException;
import java.util.HashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.crypto.AEADBadTagException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Encrypts recorded answers with a Tink AEAD. It encrypts with the primary key of a keyset, and
 * decrypts with every key of it. To rotate, add the new key on every server, then make it the
 * primary key, and remove the old one when the last record encrypted with it has expired.
 */
public final class TinkProtection implements ResponseProtection {
  private static final Logger logger = LoggerFactory.getLogger(TinkProtection.class);
  private static final int PREFIX_BYTES = 5;

  private final Aead aead;

  /** Empty if a key has no id in its ciphertexts. */
  private final Optional<Set<Integer>> keyIds;

  private final boolean refuses;

  /** Whether all keys are in this process, so that a failed decryption fails every time. */
  private final boolean local;

  /**
   * Creates the protection from an AEAD primitive, for example of a key management service. It
   * cannot check at start-up which keys have encrypted the recorded answers, and an answer that
   * cannot be decrypted counts as unreadable at the moment: prefer {@link #of}.
   */
  public TinkProtection(Aead aead) {
    this(aead, Optional.empty(), false, false);
  }

  private TinkProtection(Aead aead, Optional<Set<Integer>> keyIds, boolean refuses, boolean local) {
    this.aead = aead;
    this.keyIds = keyIds;
    this.refuses = refuses;
    this.local = local;
  }

  /**
   * Creates the protection from a keyset. At start-up, the server warns if the newest recorded
   * answers were encrypted with other keys. It cannot check this if a key is RAW, as all keys of a
   * key management service are: the ciphertexts of such a key do not contain its id.
   *
   * @throws GeneralSecurityException if the keyset contains no AEAD keys, or {@code AeadConfig} is
   *     not registered
   */
  public static TinkProtection of(KeysetHandle keyset) throws GeneralSecurityException {
    return of(keyset, false);
  }

  /**
   * Creates the protection from a keyset. The server does not start if the newest recorded answers
   * were encrypted with other keys. It cannot check this if a key is RAW.
   *
   * @throws GeneralSecurityException if the keyset contains no AEAD keys, or {@code AeadConfig} is
   *     not registered
   */
  public static TinkProtection refusingUnknownKeys(KeysetHandle keyset)
      throws GeneralSecurityException {
    return of(keyset, true);
  }

  private static TinkProtection of(KeysetHandle keyset, boolean refuses)
      throws GeneralSecurityException {
    Set<Integer> ids = new HashSet<>();
    boolean raw = false;
    boolean local = true;
    for (int i = 0; i < keyset.size(); i++) {
      if (keyset.getAt(i).getStatus() == KeyStatus.ENABLED) {
        Parameters key = keyset.getAt(i).getKey().getParameters();
        ids.add(keyset.getAt(i).getId());
        raw |= !key.hasIdRequirement();
        local &= !(key instanceof LegacyKmsAeadParameters);
        local &= !(key instanceof LegacyKmsEnvelopeAeadParameters);
      }
    }
    return new TinkProtection(
        keyset.getPrimitive(RegistryConfiguration.get(), Aead.class),
        raw ? Optional.empty() : Optional.of(ids),
        refuses,
        local);
  }

  @Override
  public ByteString seal(ByteString answer, ByteString binding) {
    try {
      return ByteString.copyFrom(aead.encrypt(answer.toByteArray(), binding.toByteArray()));
    } catch (GeneralSecurityException failure) {
      throw new IllegalStateException("an answer could not be encrypted", failure);
    }
  }

  @Override
  public ByteString open(ByteString stored, ByteString binding) {
    try {
      return ByteString.copyFrom(aead.decrypt(stored.toByteArray(), binding.toByteArray()));
    } catch (GeneralSecurityException failure) {
      String problem = "a recorded answer could not be decrypted";
      throw local || failure instanceof AEADBadTagException
          ? new IllegalStateException(problem, failure)
          : new StoreException(problem, failure);
    }
  }

  /** A ciphertext begins with a version byte and the four bytes of its key's id. */
  @Override
  public void verify(String procedure, Set<ByteString> beginnings) {
    if (keyIds.isEmpty()) {
      return;
    }
    Set<String> unknown = new TreeSet<>();
    for (ByteString beginning : beginnings) {
      boolean isTink =
          beginning.size() == PREFIX_BYTES
              && (beginning.byteAt(0) == 0 || beginning.byteAt(0) == 1);
      if (!isTink) {
        unknown.add("no key, or one without an id");
      } else if (!keyIds.get().contains(beginning.substring(1).asReadOnlyByteBuffer().getInt())) {
        unknown.add(text(beginning.substring(1).asReadOnlyByteBuffer().getInt()));
      }
    }
    if (unknown.isEmpty()) {
      return;
    }
    String problem =
        ("%s: recorded answers were encrypted with the key %s, which this server's keyset does not"
                + " contain (it contains %s), so their retries will be refused with"
                + " IDEMPOTENCY_RECORD_UNREADABLE; give every server the same keyset, and keep each"
                + " key until the records that it encrypted have expired")
            .formatted(
                procedure,
                String.join(", ", unknown),
                keyIds.get().stream()
                    .map(TinkProtection::text)
                    .sorted()
                    .collect(Collectors.joining(", ")));
    if (refuses) {
      throw new IllegalStateException(problem);
    }
    logger.warn(problem);
  }

  /** Returns a key's id as Tink's tools print it. */
  private static String text(int id) {
    return String.format(Locale.ROOT, "%d", Integer.toUnsignedLong(id));
  }
}
